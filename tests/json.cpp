// json.cpp - see json.hpp.
#include "tests/json.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <istream>
#include <iterator>
#include <ostream>
#include <stdexcept>
#include <utility>

namespace
{

// Deeper than anything that is read, and far from the end of the stack.
constexpr int MAX_DEPTH = 2000;

// The length of the UTF-8 character at `p`, or 0 (RFC 3629: no surrogates, nothing longer
// than needed).
size_t character_bytes(const unsigned char *p, const unsigned char *end)
{
    static const struct {
        unsigned char first, last, second_min, second_max;
        size_t bytes;
    } forms[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2},
        {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
        {0xf4, 0xf4, 0x80, 0x8f, 4},
    };

    for (const auto &form : forms) {
        if (*p < form.first || *p > form.last)
            continue;
        if (static_cast<size_t>(end - p) < form.bytes)
            return 0;
        if (form.bytes > 1 && (p[1] < form.second_min || p[1] > form.second_max))
            return 0;
        for (size_t i = 2; i < form.bytes; i++)
            if ((p[i] & 0xc0) != 0x80)
                return 0;
        return form.bytes;
    }
    return 0;
}

void append_character(std::string &out, unsigned code)
{
    auto tail = [&](unsigned shift) {
        out += static_cast<char>(0x80 | ((code >> shift) & 0x3f));
    };

    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xc0 | (code >> 6));
        tail(0);
    } else if (code < 0x10000) {
        out += static_cast<char>(0xe0 | (code >> 12));
        tail(6);
        tail(0);
    } else {
        out += static_cast<char>(0xf0 | (code >> 18));
        tail(12);
        tail(6);
        tail(0);
    }
}

class reader
{
  public:
    explicit reader(const std::string &text)
        : begin_(text.data()), at_(begin_), end_(begin_ + text.size())
    {
    }
    json whole()
    {
        json result = value(0);
        blanks();
        if (at_ != end_)
            refuse("text after the value");
        return result;
    }

  private:
    [[noreturn]] void refuse(const std::string &what) const
    {
        throw std::runtime_error(
            "not JSON, at byte " + std::to_string(at_ - begin_) + ": " + what + ": " +
            std::string(at_, std::min<ptrdiff_t>(end_ - at_, 40)) + "\nin " +
            std::string(begin_, std::min<ptrdiff_t>(end_ - begin_, 2000)));
    }
    void blanks()
    {
        while (at_ != end_ &&
               (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r'))
            at_++;
    }
    // The next character that is no blank, or 0.
    char next()
    {
        blanks();
        return at_ == end_ ? '\0' : *at_;
    }
    bool take(char c)
    {
        if (next() != c)
            return false;
        at_++;
        return true;
    }
    void word(const char *text)
    {
        for (; *text; text++, at_++)
            if (at_ == end_ || *at_ != *text)
                refuse("no such word");
    }
    json value(int depth)
    {
        if (depth > MAX_DEPTH)
            refuse("nested too deeply");
        switch (next()) {
        case '{':
            return object(depth);
        case '[':
            return array(depth);
        case '"':
            return text();
        case 't':
            word("true");
            return true;
        case 'f':
            word("false");
            return false;
        case 'n':
            word("null");
            return nullptr;
        default:
            return number();
        }
    }
    json object(int depth)
    {
        json result = json::object();

        at_++;
        if (take('}'))
            return result;
        do {
            if (next() != '"')
                refuse("a name is missing");
            std::string name = text();
            if (result.contains(name))
                refuse("the name '" + name + "' stands twice");
            if (!take(':'))
                refuse("':' is missing");
            result[name] = value(depth + 1);
        } while (take(','));
        if (!take('}'))
            refuse("'}' is missing");
        return result;
    }
    json array(int depth)
    {
        json result = json::array();

        at_++;
        if (take(']'))
            return result;
        do
            result.push_back(value(depth + 1));
        while (take(','));
        if (!take(']'))
            refuse("']' is missing");
        return result;
    }
    unsigned hex4()
    {
        unsigned code = 0;

        if (end_ - at_ < 4 || std::from_chars(at_, at_ + 4, code, 16).ptr != at_ + 4)
            refuse("\\u and no four hexadecimal digits");
        at_ += 4;
        return code;
    }
    void escape(std::string &out)
    {
        static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
        char c = at_ == end_ ? '\0' : *at_++;

        if (c == 'u') {
            unsigned code = hex4();
            if (code >= 0xdc00 && code < 0xe000)
                refuse("half a character");
            if (code >= 0xd800 && code < 0xdc00) {
                word("\\u");
                unsigned low = hex4();
                if (low < 0xdc00 || low >= 0xe000)
                    refuse("half a character");
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            }
            append_character(out, code);
            return;
        }
        for (size_t i = 0; names[i]; i++) {
            if (names[i] == c) {
                out += meanings[i];
                return;
            }
        }
        refuse("an unknown escape");
    }
    std::string text()
    {
        std::string out;

        for (at_++; at_ != end_ && *at_ != '"';) {
            if (static_cast<unsigned char>(*at_) < 0x20)
                refuse("a control character in a string");
            if (*at_ == '\\') {
                at_++;
                escape(out);
                continue;
            }
            size_t bytes = character_bytes(reinterpret_cast<const unsigned char *>(at_),
                                           reinterpret_cast<const unsigned char *>(end_));
            if (bytes == 0)
                refuse("not UTF-8");
            out.append(at_, bytes);
            at_ += bytes;
        }
        if (at_ == end_)
            refuse("a string does not end");
        at_++;
        return out;
    }
    void digits()
    {
        if (at_ == end_ || *at_ < '0' || *at_ > '9')
            refuse("a digit is missing");
        while (at_ != end_ && *at_ >= '0' && *at_ <= '9')
            at_++;
    }
    json number()
    {
        const char *start = at_;
        bool whole = true;

        if (at_ != end_ && *at_ == '-')
            at_++;
        if (at_ != end_ && *at_ == '0')
            at_++;
        else
            digits();
        if (at_ != end_ && *at_ == '.') {
            whole = false;
            at_++;
            digits();
        }
        if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
            whole = false;
            at_++;
            if (at_ != end_ && (*at_ == '+' || *at_ == '-'))
                at_++;
            digits();
        }
        if (whole) {
            int64_t integer;
            uint64_t natural;
            if (*start != '-' && std::from_chars(start, at_, natural).ec == std::errc{})
                return natural;
            if (*start == '-' && std::from_chars(start, at_, integer).ec == std::errc{})
                return integer;
        }
        double real = strtod(std::string(start, at_).c_str(), nullptr);
        if (!std::isfinite(real))
            refuse("too large a number");
        return real;
    }

    const char *begin_, *at_, *end_;
};

void print_text(std::string &out, const std::string &text)
{
    static const char hex[] = "0123456789abcdef", escaped[] = "\"\\\b\f\n\r\t",
                      names[] = "\"\\bfnrt";

    out += '"';
    for (char c : text) {
        const char *found = c ? strchr(escaped, c) : nullptr;
        if (found) {
            out += '\\';
            out += names[found - escaped];
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += "\\u00";
            out += hex[c >> 4];
            out += hex[c & 15];
        } else {
            out += c;
        }
    }
    out += '"';
}

// As few digits as lead back to `x`, and a sign that it is no integer.
void print_real(std::string &out, double x)
{
    char digits[64];
    bool plain = x == 0 || (std::fabs(x) >= 1e-4 && std::fabs(x) < 1e15);
    auto done =
        std::to_chars(digits, digits + sizeof digits, x,
                      plain ? std::chars_format::fixed : std::chars_format::scientific);
    std::string text(digits, done.ptr);

    if (!std::isfinite(x))
        text = "null";
    else if (plain && text.find('.') == std::string::npos)
        text += ".0";
    out += text;
}

} // namespace

// ---- making and leaving ----

json::json(const char *text) : json(std::string(text))
{
}

json::json(const std::string &text) : json()
{
    set(STRING).text = new std::string(text);
}

json::json(std::initializer_list<json> list) : json()
{
    bool pairs = true;

    for (const json &value : list)
        pairs =
            pairs && value.kind_ == ARRAY && value.size() == 2 && value.at(0).is_string();
    *this = pairs ? object(list) : array(list);
}

json json::array(std::initializer_list<json> list)
{
    json result;

    result.set(ARRAY).array = new array_type(list);
    return result;
}

json json::object(std::initializer_list<json> list)
{
    json result;

    result.set(OBJECT).object = new object_type;
    for (const json &pair : list)
        result.as_.object->emplace(pair.at(0).to_text(), pair.at(1));
    return result;
}

json::json(const json &other) : json()
{
    switch (other.kind_) {
    case OBJECT:
        as_.object = new object_type(*other.as_.object);
        break;
    case ARRAY:
        as_.array = new array_type(*other.as_.array);
        break;
    case STRING:
        as_.text = new std::string(*other.as_.text);
        break;
    default:
        as_ = other.as_;
    }
    kind_ = other.kind_;
}

json::json(json &&other) noexcept : json()
{
    swap(other);
}

json &json::operator=(json other) noexcept
{
    swap(other);
    return *this;
}

json::~json()
{
    if (kind_ == OBJECT)
        delete as_.object;
    else if (kind_ == ARRAY)
        delete as_.array;
    else if (kind_ == STRING)
        delete as_.text;
}

void json::swap(json &other) noexcept
{
    std::swap(kind_, other.kind_);
    std::swap(as_, other.as_);
}

void json::become_array()
{
    if (kind_ == NONE)
        set(ARRAY).array = new array_type;
    if (kind_ != ARRAY)
        refuse("an array");
}

void json::refuse(const char *wanted) const
{
    throw std::runtime_error("JSON: " + dump().substr(0, 200) + " is not " + wanted);
}

// ---- text ----

json json::parse(const std::string &text)
{
    return reader(text).whole();
}

json json::parse(std::istream &in)
{
    return parse(std::string(std::istreambuf_iterator<char>(in), {}));
}

json operator""_json(const char *text, size_t length)
{
    return json::parse(std::string(text, length));
}

std::string json::dump(int indent) const
{
    std::string out;

    print(out, indent, 0);
    return out;
}

void json::print(std::string &out, int indent, int depth) const
{
    auto line = [&](int level) {
        if (indent >= 0)
            out.append(1, '\n').append(static_cast<size_t>(indent * level), ' ');
    };
    bool first = true;
    auto next = [&] {
        if (!first)
            out += ',';
        first = false;
        line(depth + 1);
    };

    switch (kind_) {
    case NONE:
        out += "null";
        break;
    case BOOLEAN:
        out += as_.boolean ? "true" : "false";
        break;
    case INTEGER:
        out += std::to_string(as_.integer);
        break;
    case NATURAL:
        out += std::to_string(as_.natural);
        break;
    case REAL:
        print_real(out, as_.real);
        break;
    case STRING:
        print_text(out, *as_.text);
        break;
    case ARRAY:
        out += '[';
        for (const json &value : *as_.array) {
            next();
            value.print(out, indent, depth + 1);
        }
        if (!first)
            line(depth);
        out += ']';
        break;
    case OBJECT:
        out += '{';
        for (const auto &[name, value] : *as_.object) {
            next();
            print_text(out, name);
            out += indent >= 0 ? ": " : ":";
            value.print(out, indent, depth + 1);
        }
        if (!first)
            line(depth);
        out += '}';
        break;
    }
}

std::ostream &operator<<(std::ostream &out, const json &value)
{
    return out << value.dump();
}

// ---- members and elements ----

json::json_pointer::json_pointer(const std::string &place) : text(place)
{
    if (!text.empty() && text[0] != '/')
        throw std::runtime_error("a JSON pointer begins with '/': " + text);
    for (size_t at = 0; at < text.size(); at++) {
        if (text[at] == '/')
            tokens.emplace_back();
        else if (text[at] == '~' && ++at < text.size())
            tokens.back() += text[at] == '1' ? '/' : '~';
        else
            tokens.back() += text[at];
    }
}

json::json_pointer operator""_json_pointer(const char *text, size_t length)
{
    return json::json_pointer(std::string(text, length));
}

json &json::operator[](const std::string &name)
{
    if (kind_ == NONE)
        set(OBJECT).object = new object_type;
    if (kind_ != OBJECT)
        refuse("an object");
    return (*as_.object)[name];
}

json &json::operator[](const char *name)
{
    return (*this)[std::string(name)];
}

const json &json::operator[](const std::string &name) const
{
    return at(name);
}

const json &json::operator[](const char *name) const
{
    return at(name);
}

json &json::operator[](const json_pointer &place)
{
    json *value = this;

    for (const std::string &token : place.tokens) {
        bool is_index = token.find_first_not_of("0123456789") == token.npos;
        if (value->kind_ == ARRAY || (value->kind_ == NONE && is_index))
            value = token == "-" ? &value->element(value->size())
                                 : &value->element(std::stoul(token));
        else
            value = &(*value)[token];
    }
    return *value;
}

const json &json::operator[](const json_pointer &place) const
{
    return at(place);
}

json &json::element(size_t index)
{
    become_array();
    if (index >= as_.array->size())
        as_.array->resize(index + 1);
    return (*as_.array)[index];
}

const json &json::at(const std::string &name) const
{
    if (kind_ != OBJECT)
        refuse("an object");
    auto found = as_.object->find(name);
    if (found == as_.object->end())
        throw std::out_of_range("JSON: no member '" + name + "' in " +
                                dump().substr(0, 200));
    return found->second;
}

const json &json::at(size_t index) const
{
    if (kind_ != ARRAY)
        refuse("an array");
    if (index >= as_.array->size())
        throw std::out_of_range("JSON: no element " + std::to_string(index) + " in " +
                                dump().substr(0, 200));
    return (*as_.array)[index];
}

const json &json::at(const json_pointer &place) const
{
    const json *value = this;

    for (const std::string &token : place.tokens)
        value = value->kind_ == ARRAY ? &value->at(std::stoul(token)) : &value->at(token);
    return *value;
}

json &json::at(const std::string &name)
{
    return const_cast<json &>(std::as_const(*this).at(name));
}

json &json::at(size_t index)
{
    return const_cast<json &>(std::as_const(*this).at(index));
}

json &json::at(const json_pointer &place)
{
    return const_cast<json &>(std::as_const(*this).at(place));
}

const json &json::front() const
{
    return at(0);
}

const json &json::back() const
{
    return at(size() - 1);
}

json &json::front()
{
    return at(0);
}

json &json::back()
{
    return at(size() - 1);
}

bool json::contains(const std::string &name) const
{
    return kind_ == OBJECT && as_.object->count(name);
}

bool json::contains(const json_pointer &place) const
{
    const json *value = this;

    for (const std::string &token : place.tokens) {
        if (value->kind_ == ARRAY &&
            token.find_first_not_of("0123456789") == token.npos &&
            std::stoul(token) < value->size())
            value = &value->at(std::stoul(token));
        else if (value->contains(token))
            value = &value->at(token);
        else
            return false;
    }
    return true;
}

std::string json::value(const std::string &name, const std::string &otherwise) const
{
    return contains(name) ? at(name).to_text() : otherwise;
}

std::string json::value(const std::string &name, const char *otherwise) const
{
    return value(name, std::string(otherwise));
}

json json::value(const std::string &name, const json &otherwise) const
{
    return contains(name) ? at(name) : otherwise;
}

size_t json::size() const
{
    switch (kind_) {
    case NONE:
        return 0;
    case ARRAY:
        return as_.array->size();
    case OBJECT:
        return as_.object->size();
    default:
        return 1;
    }
}

// ---- changes ----

void json::push_back(json value)
{
    become_array();
    as_.array->push_back(std::move(value));
}

json &json::emplace_back(json value)
{
    push_back(std::move(value));
    return as_.array->back();
}

size_t json::erase(const std::string &name)
{
    if (kind_ != OBJECT)
        refuse("an object");
    return as_.object->erase(name);
}

void json::erase_element(size_t index)
{
    at(index);
    as_.array->erase(as_.array->begin() + static_cast<ptrdiff_t>(index));
}

void json::clear()
{
    if (kind_ == OBJECT)
        as_.object->clear();
    else if (kind_ == ARRAY)
        as_.array->clear();
    else if (kind_ != NONE)
        refuse("an array or an object");
}

void json::update(const json &other)
{
    if (other.kind_ != OBJECT)
        other.refuse("an object");
    for (const auto &[name, value] : *other.as_.object)
        (*this)[name] = value;
}

void json::merge_patch(const json &patch)
{
    if (patch.kind_ != OBJECT) {
        *this = patch;
        return;
    }
    if (kind_ != OBJECT)
        *this = object();
    for (const auto &[name, value] : *patch.as_.object) {
        if (value.is_null())
            erase(name);
        else
            (*this)[name].merge_patch(value);
    }
}

// ---- going over it ----

json::const_iterator json::begin() const
{
    if (kind_ == OBJECT)
        return const_iterator(std::as_const(*as_.object).begin());
    if (kind_ != ARRAY && kind_ != NONE)
        refuse("an array or an object");
    return const_iterator(kind_ == ARRAY ? as_.array->data() : nullptr);
}

json::const_iterator json::end() const
{
    if (kind_ == OBJECT)
        return const_iterator(std::as_const(*as_.object).end());
    return const_iterator(kind_ == ARRAY ? as_.array->data() + size() : nullptr);
}

json::iterator json::begin()
{
    if (kind_ == OBJECT)
        return iterator(as_.object->begin());
    if (kind_ != ARRAY && kind_ != NONE)
        refuse("an array or an object");
    return iterator(kind_ == ARRAY ? as_.array->data() : nullptr);
}

json::iterator json::end()
{
    if (kind_ == OBJECT)
        return iterator(as_.object->end());
    return iterator(kind_ == ARRAY ? as_.array->data() + size() : nullptr);
}

json::const_iterator json::find(const std::string &name) const
{
    return kind_ == OBJECT ? const_iterator(std::as_const(*as_.object).find(name))
                           : end();
}

json::iterator json::find(const std::string &name)
{
    return kind_ == OBJECT ? iterator(as_.object->find(name)) : end();
}

std::vector<json::member<json>> json::items()
{
    std::vector<member<json>> list;

    if (kind_ != OBJECT)
        refuse("an object");
    for (auto &[name, value] : *as_.object)
        list.push_back({name, value});
    return list;
}

std::vector<json::member<const json>> json::items() const
{
    std::vector<member<const json>> list;

    if (kind_ != OBJECT)
        refuse("an object");
    for (const auto &[name, value] : *as_.object)
        list.push_back({name, value});
    return list;
}

// ---- as another type ----

bool json::to_boolean() const
{
    if (kind_ != BOOLEAN)
        refuse("true or false");
    return as_.boolean;
}

double json::to_real() const
{
    switch (kind_) {
    case INTEGER:
        return static_cast<double>(as_.integer);
    case NATURAL:
        return static_cast<double>(as_.natural);
    case REAL:
        return as_.real;
    default:
        refuse("a number");
    }
}

int64_t json::to_integer(int64_t min, int64_t max) const
{
    int64_t value = as_.integer;

    if (kind_ == REAL && as_.real >= -0x1p63 && as_.real < 0x1p63)
        value = static_cast<int64_t>(as_.real);
    else if (kind_ != INTEGER && (kind_ != NATURAL || as_.natural > INT64_MAX))
        refuse("such an integer");
    if (value < min || value > max ||
        (kind_ == REAL && static_cast<double>(value) != as_.real))
        refuse("such an integer");
    return value;
}

uint64_t json::to_natural(uint64_t max) const
{
    uint64_t value = as_.natural;

    if (kind_ == REAL && as_.real >= 0 && as_.real < 0x1p64)
        value = static_cast<uint64_t>(as_.real);
    else if (kind_ != NATURAL && (kind_ != INTEGER || as_.integer < 0))
        refuse("such a natural number");
    if (value > max || (kind_ == REAL && static_cast<double>(value) != as_.real))
        refuse("such a natural number");
    return value;
}

const std::string &json::to_text() const
{
    if (kind_ != STRING)
        refuse("a string");
    return *as_.text;
}

std::partial_ordering json::compare(const json &a, const json &b)
{
    if (a.is_number() && b.is_number()) {
        if (a.kind_ == REAL || b.kind_ == REAL)
            return a.to_real() <=> b.to_real();
        bool below_a = a.kind_ == INTEGER && a.as_.integer < 0;
        bool below_b = b.kind_ == INTEGER && b.as_.integer < 0;
        if (below_a != below_b)
            return below_b <=> below_a;
        return below_a ? a.as_.integer <=> b.as_.integer
                       : a.as_.natural <=> b.as_.natural;
    }
    if (a.kind_ != b.kind_)
        return (a.is_number() ? INTEGER : a.kind_) <=>
               (b.is_number() ? INTEGER : b.kind_);
    switch (a.kind_) {
    case BOOLEAN:
        return a.as_.boolean <=> b.as_.boolean;
    case STRING:
        return *a.as_.text <=> *b.as_.text;
    case ARRAY:
    case OBJECT: {
        const_iterator x = a.begin(), y = b.begin();
        for (; x != a.end() && y != b.end(); ++x, ++y) {
            if (a.kind_ == OBJECT && x.key() != y.key())
                return x.key() <=> y.key();
            if (std::partial_ordering c = compare(*x, *y); c != 0)
                return c;
        }
        return a.size() <=> b.size();
    }
    default:
        return std::partial_ordering::equivalent;
    }
}
