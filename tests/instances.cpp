// instances.cpp - the members that instances.hpp keeps out of the test files.
#define INSTANCES template
#include "instances.hpp"
