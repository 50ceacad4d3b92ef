/* base/error_codes.h - every code of an error, one row each.
 *
 * A row makes the code known to fail() or invalid(), to GET /v1/errors and to the tests.
 * Names on the wire are stable: rows are added, never renamed.
 */
#ifndef GRIDPLAN_BASE_ERROR_CODES_H
#define GRIDPLAN_BASE_ERROR_CODES_H

/* What became of a request. Symbol, HTTP status, name on the wire, title, cause, remedy;
 * without a cause it is never sent. */
#define ERROR_CODES(X)                                                                  \
    X(OK, 200, "ok", "Done", "", "")                                                    \
    X(ERR_MALFORMED, 400, "malformed", "The request cannot be read",                    \
      "Body, query or headers are not in their format",                                 \
      "Correct it at the place that the detail names")                                  \
    X(ERR_UNAUTHENTICATED, 401, "unauthenticated", "A valid key is needed",             \
      "The Authorization header is missing, or its key is unknown, expired or revoked", \
      "Send Authorization: Bearer KEY")                                                 \
    X(ERR_FORBIDDEN, 403, "forbidden", "This is not allowed",                           \
      "The key lacks the scope of the path",                                            \
      "Use a key with the scope that the detail names")                                 \
    X(ERR_NOT_FOUND, 404, "not_found", "There is nothing of that name",                 \
      "No path, or no stored thing of the tenant, has this name",                       \
      "Follow the hint; GET /openapi.json lists the paths")                             \
    X(ERR_METHOD, 405, "method_not_allowed", "The method does not fit the path",        \
      "The path exists, but not with this method", "Use a method of the Allow header")  \
    X(ERR_NOT_ACCEPTABLE, 406, "not_acceptable", "No such representation",              \
      "The Accept header takes none of the forms of the answer",                        \
      "Accept application/json")                                                        \
    X(ERR_SLOW_CLIENT, 408, "slow_client", "The request took too long to arrive",       \
      "The body came too slowly", "Send it again, faster or in parts")                  \
    X(ERR_CONFLICT, 409, "conflict", "The state does not allow this now",               \
      "Something stored, or another request, is in the way",                            \
      "Read the present state, then try again")                                         \
    X(ERR_GONE, 410, "gone", "It has ended",                                            \
      "What was stored under this name has expired", "Store it anew")                   \
    X(ERR_STALE, 412, "stale", "The stored version is another one",                     \
      "Somebody else has changed it since it was read",                                 \
      "GET it again and repeat the change with the new ETag")                           \
    X(ERR_TOO_LARGE, 413, "too_large", "The request is larger than a limit",            \
      "Body, list or computation needs more than one request may take",                 \
      "Send it in parts, or raise the limit that the detail names")                     \
    X(ERR_TARGET_LENGTH, 414, "target_too_long", "The path and query are too long",     \
      "The request target is longer than its limit", "Shorten the query")               \
    X(ERR_MEDIA_TYPE, 415, "unsupported_media_type", "The content type is wrong",       \
      "Content-Type or Content-Encoding is none that the path takes",                   \
      "Send one of the types that the detail names")                                    \
    X(ERR_MISDIRECTED, 421, "misdirected", "The host is not served here",               \
      "The Host header names a host that this service does not answer for",             \
      "Use the service's own name")                                                     \
    X(ERR_INVALID, 422, "invalid", "Some values are not acceptable",                    \
      "The request was read, but its values are wrong",                                 \
      "Correct every element of 'errors'")                                              \
    X(ERR_NO_CONDITION, 428, "precondition_required", "If-Match is needed",             \
      "A change was sent without the version that it changes",                          \
      "Send the ETag of the last GET as If-Match")                                      \
    X(ERR_RATE_LIMITED, 429, "rate_limited", "Too many requests",                       \
      "The key or the address has used up its quota", "Wait as Retry-After says")       \
    X(ERR_HEADER_LENGTH, 431, "header_too_large", "The header fields are too long",     \
      "The header fields together are longer than their limit",                         \
      "Send fewer or shorter ones")                                                     \
    X(ERR_CANCELLED, 499, "cancelled", "The client went away", "", "")                  \
    X(ERR_INTERNAL, 500, "internal", "The service failed", "A defect of the service",   \
      "Report it with the request_id")                                                  \
    X(ERR_UNAVAILABLE, 503, "unavailable", "A part of the service is down",             \
      "The database, or another part that the request needs, does not answer",          \
      "Wait as Retry-After says; GET /readyz?verbose tells what is down")               \
    X(ERR_BUSY, 503, "busy", "The service is at its limit",                             \
      "Other requests have all of its room", "Wait as Retry-After says")                \
    X(ERR_WOULD_BLOCK, 500, "would_block", "Internal: a worker has to answer", "", "")

/* What is wrong with one value of a request, sorted by name. Symbol, name on the wire,
 * title, cause, remedy. */
#define ITEM_CODES(X)                                                                   \
    X(ITEM_AMBIGUOUS, "ambiguous", "A name has several owners",                         \
      "A reference uses a name that several things have",                               \
      "Refer to the thing by its id")                                                   \
    X(ITEM_BAD_CHARACTERS, "bad_characters", "A character is not allowed",              \
      "A name has a character that its alphabet lacks",                                 \
      "Use the characters that the detail lists")                                       \
    X(ITEM_CONFLICT, "conflict", "Two statements exclude each other",                   \
      "Members are given together that exclude or contradict each other",               \
      "Give one of them, or make them agree")                                           \
    X(ITEM_CUT, "cut", "The text ends too early",                                       \
      "A file in the request has fewer lines or values than it announces",              \
      "Send the whole file")                                                            \
    X(ITEM_CYCLE, "cycle", "A dependency comes back to itself",                         \
      "Following the dependencies leads back to where it began",                        \
      "Remove one dependency of the cycle")                                             \
    X(ITEM_DOCTYPE, "doctype", "A document type is declared",                           \
      "XML in the request has a DOCTYPE, which is never read",                          \
      "Remove the DOCTYPE; DAX needs none")                                             \
    X(ITEM_DUPLICATE, "duplicate", "The same thing is there twice",                     \
      "A member, an id or a key is repeated where it must be unique",                   \
      "Remove the copy, or give it another name")                                       \
    X(ITEM_EXECUTION_TIME_REQUIRED, "execution_time_required", "A run time is missing", \
      "The algorithm needs the run time of the job",                                    \
      "Give the run time, or the job's length and its resource")                        \
    X(ITEM_EXPRESSION, "expression", "The expression cannot be read",                   \
      "A requirement or a rank is no valid expression",                                 \
      "Correct it at the column that the detail names")                                 \
    X(ITEM_IN_THE_FUTURE, "in_the_future", "The instant is yet to come",                \
      "A record of the past has a time ahead of the service's clock",                   \
      "Check the sender's clock and time zone")                                         \
    X(ITEM_INVALID_AVAILABILITY, "invalid_availability", "This is no availability",     \
      "A recorded share of the processor is outside of its bounds",                     \
      "Send shares from above 0 to 1")                                                  \
    X(ITEM_INVALID_COMBINATION, "invalid_combination", "These do not make a model",     \
      "Functions, ids and coefficients of a model do not fit each other",               \
      "Send what a fit has answered")                                                   \
    X(ITEM_KEY_REUSED, "key_reused", "The key belongs to another request",              \
      "An Idempotency-Key came before with another body",                               \
      "Use a new key for a new request")                                                \
    X(ITEM_MALFORMED, "malformed", "The value cannot be read",                          \
      "A text inside the request is not in its format",                                 \
      "Correct it at the place that the detail names")                                  \
    X(ITEM_MIXED_PROCESSORS, "mixed_processors",                                        \
      "The runs used different numbers of processors",                                  \
      "A preliminary model is fitted to runs of different sizes",                       \
      "Send runs on one number of processors, or fit another kind of model")            \
    X(ITEM_NO_JOBS, "no_jobs", "There are no jobs",                                     \
      "None of the lines of a workload is a job",                                       \
      "Send a log in the Standard Workload Format")                                     \
    X(ITEM_NO_MEASURE, "no_measure", "Nothing was measured",                            \
      "A load sample has none of the members that it could report",                     \
      "Give at least one measure")                                                      \
    X(ITEM_NO_REPLICA, "no_replica", "A file is nowhere", "A job's file is at no site", \
      "Name at least one site that has the file")                                       \
    X(ITEM_NO_ROUTE, "no_route", "There is no way between two nodes",                   \
      "The links of a network do not connect what has to communicate",                  \
      "Add a link, or remove the node")                                                 \
    X(ITEM_NO_SAMPLES, "no_samples", "Nothing was recorded",                            \
      "A forecast needs samples that neither the request nor the history has",          \
      "Send load samples first, or give them in the request")                           \
    X(ITEM_NOT_A_CHOICE, "not_a_choice", "The value is not one of the choices",         \
      "The member takes one of a list of words, and this is none of them",              \
      "Use one of the words in 'allowed'")                                              \
    X(ITEM_NOT_A_GRANT, "not_a_grant", "This is no grant",                              \
      "An access entry is neither a user nor a virtual organisation",                   \
      "Write user:NAME or vo:NAME")                                                     \
    X(ITEM_NOT_ALIGNED, "not_aligned", "The intervals do not fit what is kept",         \
      "The samples are gone, and intervals are not made of whole roll-ups",             \
      "Take the interval and the begin that the detail names")                          \
    X(ITEM_NOT_ALLOWED, "not_allowed", "This is not allowed here",                      \
      "The member has no meaning here or cannot be changed", "Leave the member out")    \
    X(ITEM_NOT_AN_INSTANT, "not_an_instant", "This is no instant",                      \
      "The value is neither a time in RFC 3339 nor seconds since 1970",                 \
      "Write it as 2026-01-31T12:00:00Z")                                               \
    X(ITEM_NOT_AN_INTEGER, "not_an_integer", "The number is not whole",                 \
      "The member counts something, so it has no fraction", "Send a whole number")      \
    X(ITEM_NOT_APPLICABLE, "not_applicable", "The algorithm does not fit the problem",  \
      "The algorithm solves a special case only, and this is another",                  \
      "Choose another algorithm")                                                       \
    X(ITEM_NOT_DAX, "not_dax", "The text is no DAX",                                    \
      "The outermost element of the XML is not <adag>", "Send a DAX file")              \
    X(ITEM_NOT_PACKED, "not_packed", "The packed model cannot be read",                 \
      "A packed model is not what a fit has answered",                                  \
      "Send the text unchanged, as the fit answered it")                                \
    X(ITEM_NOT_POSSIBLE, "not_possible", "The event cannot happen now",                 \
      "The job is in a state in which there is no such event",                          \
      "Check the state that is sent with the event")                                    \
    X(ITEM_NOT_TRAINED, "not_trained", "The model is not trained",                      \
      "The model that is referred to cannot be used for this yet",                      \
      "Train it, or refer to a trained one")                                            \
    X(ITEM_NOT_USABLE, "not_usable", "The model cannot be used",                        \
      "The function of a model gives no time for what is asked",                        \
      "Correct the function, or give another")                                          \
    X(ITEM_NOT_USED, "not_used", "This kind does not use it",                           \
      "A member is there that this kind of model has no use for",                       \
      "Leave the member out, or choose another kind")                                   \
    X(ITEM_OUT_OF_BOUNDS, "out_of_bounds", "The value is out of its bounds",            \
      "A number is smaller or larger than is possible or permitted",                    \
      "Send a value within the bounds that the detail names")                           \
    X(ITEM_OUT_OF_ORDER, "out_of_order", "The order is wrong",                          \
      "Elements have to be in the order of time", "Sort the list, oldest first")        \
    X(ITEM_OVERLAP, "overlap", "Two windows overlap",                                   \
      "Windows of one site have time in common", "Join the windows, or shorten one")    \
    X(ITEM_PAGE_TOKEN, "page_token", "The page token cannot be used",                   \
      "The token was made by another list, or is cut",                                  \
      "Use next_page_token of the answer unchanged, with the same filters")             \
    X(ITEM_QUOTA, "quota", "The quota cannot be read",                                  \
      "A quota of a key is not in its format", "See --help for the form of quotas")     \
    X(ITEM_RAW_EXPIRED, "raw_expired", "The samples of that time are gone",             \
      "Their retention is over; only roll-ups of them are kept, which do not change",   \
      "Send samples sooner, or raise retention_load_samples_days")                      \
    X(ITEM_REQUIRED, "required", "The member is missing",                               \
      "A member has to be there and is not", "Add the member")                          \
    X(ITEM_SIZES_DISAGREE, "sizes_disagree", "The sizes of a file disagree",            \
      "Replicas of one file are said to have different sizes", "Correct the sizes")     \
    X(ITEM_STILL_RUNNING, "still_running", "The same request is still at work",         \
      "A request with this Idempotency-Key has not ended yet",                          \
      "Wait as Retry-After says, and send it again")                                    \
    X(ITEM_TOO_DEEP, "too_deep", "Nested too deeply",                                   \
      "Elements are in each other beyond the limit", "Flatten the document")            \
    X(ITEM_TOO_LONG, "too_long", "There is too much of it",                             \
      "A text or a list is longer than its limit", "Shorten it, or send it in parts")   \
    X(ITEM_TOO_MANY, "too_many", "There are too many choices",                          \
      "The request spans more cases than can be looked at", "Narrow the range")         \
    X(ITEM_TOO_MANY_PHASES, "too_many_phases", "There are too many phases",             \
      "The algorithm tries every plan, which takes too long for so many phases",        \
      "Use another algorithm")                                                          \
    X(ITEM_TOO_SHORT, "too_short", "There is too little of it",                         \
      "A text or a list is shorter than it must be", "Fill it")                         \
    X(ITEM_UNKNOWN_ALGORITHM, "unknown_algorithm", "There is no such algorithm",        \
      "The endpoint has no algorithm of this name",                                     \
      "Use one of the names in 'allowed'; GET /v1/algorithms has them all")             \
    X(ITEM_UNKNOWN_ENCODING, "unknown_encoding", "The encoding is not known",           \
      "XML declares an encoding that is not read", "Send it as UTF-8")                  \
    X(ITEM_UNKNOWN_ID, "unknown_id", "Nothing has this id",                             \
      "A reference names something that is neither in the request nor stored",          \
      "Correct the id, or add what it names")                                           \
    X(ITEM_UNKNOWN_MEMBER, "unknown_member", "There is no such member",                 \
      "An object has a member that its type does not know",                             \
      "Follow the hint, or leave the member out")                                       \
    X(ITEM_UNKNOWN_OPTION, "unknown_option", "There is no such option",                 \
      "The algorithm has no option of this name",                                       \
      "Use one of the names in 'allowed'; GET /v1/algorithms has them all")             \
    X(ITEM_WRONG_LENGTH, "wrong_length", "The list has another length",                 \
      "A list must be as long as another, and is not", "Give one element for each")     \
    X(ITEM_WRONG_POLICY, "wrong_policy", "The policy does not fit the job",             \
      "Policies for flexible jobs and for others exclude each other",                   \
      "Choose a policy for this type of job")                                           \
    X(ITEM_WRONG_TYPE, "wrong_type", "The value has the wrong type",                    \
      "A number, a text, a list or an object stands where another is expected",         \
      "Send the type that the detail names")

#endif
