// json.hpp - JSON values in tests: read, change, compare, print.
//
// A reader of its own, not the service's: what the service prints is judged by RFC 8259
// and not by the library that printed it. parse() refuses what is not JSON, UTF-8 that is
// broken, and a name that stands twice in an object. Next to no templates: half of the
// tests include this, so its code is compiled once, in json.cpp.
//
// Integers stay integers (64 bits), other numbers are doubles and are printed with as few
// digits as lead back to the same bits; 1 and 1.0 are equal. Members are sorted by name.
// What a value is not (a missing member of a const value, text as a number) throws.
#pragma once
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

class json
{
  public:
    // The place of a value in a document, as in RFC 6901: /jobs/0/id
    struct json_pointer {
        std::string text;
        std::vector<std::string> tokens;
        explicit json_pointer(const std::string &place = "");
        const std::string &to_string() const
        {
            return text;
        }
    };
    using array_type = std::vector<json>;
    using object_type = std::map<std::string, json>;
    template <class J> class cursor;
    template <class J> struct member;
    using iterator = cursor<json>;
    using const_iterator = cursor<const json>;
    using value_type = json;

    json() : kind_(NONE), as_()
    {
    }
    json(std::nullptr_t) : json()
    {
    }
    template <class T>
    requires std::is_arithmetic_v<T> json(T value) : json()
    {
        if constexpr (std::same_as<T, bool>)
            set(BOOLEAN).boolean = value;
        else if constexpr (std::floating_point<T>)
            set(REAL).real = value;
        else if constexpr (std::signed_integral<T>)
            set(INTEGER).integer = value;
        else
            set(NATURAL).natural = value;
    }
    json(const char *text);
    json(const std::string &text);
    // {{"id", "a"}, {"cpus", 2}} is an object, any other list an array.
    json(std::initializer_list<json> list);
    // From a list of values, or from a map of them by name.
    template <class R>
    requires(!std::convertible_to<R, std::string> &&
             requires(const R &values) { values.begin() != values.end(); })
        json(const R &values)
        : json()
    {
        if constexpr (requires { typename R::mapped_type; }) {
            *this = object();
            for (const auto &[name, value] : values)
                (*this)[name] = value;
        } else {
            *this = array();
            for (const auto &value : values)
                push_back(json(value));
        }
    }
    json(const json &other);
    json(json &&other) noexcept;
    json &operator=(json other) noexcept;
    ~json();

    static json array(std::initializer_list<json> list = {});
    static json object(std::initializer_list<json> list = {});
    static json parse(const std::string &text);
    static json parse(std::istream &in);
    // `indent` < 0: on one line, without blanks.
    std::string dump(int indent = -1) const;

    bool is_null() const
    {
        return kind_ == NONE;
    }
    bool is_boolean() const
    {
        return kind_ == BOOLEAN;
    }
    bool is_number() const
    {
        return kind_ == INTEGER || kind_ == NATURAL || kind_ == REAL;
    }
    bool is_number_integer() const
    {
        return kind_ == INTEGER || kind_ == NATURAL;
    }
    bool is_string() const
    {
        return kind_ == STRING;
    }
    bool is_array() const
    {
        return kind_ == ARRAY;
    }
    bool is_object() const
    {
        return kind_ == OBJECT;
    }
    bool is_structured() const
    {
        return is_array() || is_object();
    }

    // Members and elements. [] of a value that is not const adds what is missing.
    json &operator[](const char *name);
    json &operator[](const std::string &name);
    json &operator[](const json_pointer &place);
    const json &operator[](const char *name) const;
    const json &operator[](const std::string &name) const;
    const json &operator[](const json_pointer &place) const;
    template <std::integral I> json &operator[](I index)
    {
        return element(static_cast<size_t>(index));
    }
    template <std::integral I> const json &operator[](I index) const
    {
        return at(static_cast<size_t>(index));
    }
    json &at(const std::string &name);
    json &at(size_t index);
    json &at(const json_pointer &place);
    const json &at(const std::string &name) const;
    const json &at(size_t index) const;
    const json &at(const json_pointer &place) const;
    json &front();
    json &back();
    const json &front() const;
    const json &back() const;
    bool contains(const std::string &name) const;
    bool contains(const json_pointer &place) const;
    size_t count(const std::string &name) const
    {
        return contains(name);
    }
    // The member, or `otherwise` when there is none.
    std::string value(const std::string &name, const char *otherwise) const;
    std::string value(const std::string &name, const std::string &otherwise) const;
    json value(const std::string &name, const json &otherwise) const;
    template <class T>
    requires std::is_arithmetic_v<T> T value(const std::string &name, T otherwise)
    const
    {
        return contains(name) ? at(name).get<T>() : otherwise;
    }
    size_t size() const;
    bool empty() const
    {
        return size() == 0;
    }

    void push_back(json value);
    json &emplace_back(json value);
    size_t erase(const std::string &name);
    template <std::integral I> void erase(I index)
    {
        erase_element(static_cast<size_t>(index));
    }
    void clear();
    void swap(json &other) noexcept;
    // The other object's members, over those of the same name.
    void update(const json &other);
    // RFC 7396.
    void merge_patch(const json &patch);

    iterator begin();
    iterator end();
    iterator find(const std::string &name);
    const_iterator begin() const;
    const_iterator end() const;
    const_iterator find(const std::string &name) const;
    // for (auto &[name, value] : j.items())
    std::vector<member<json>> items();
    std::vector<member<const json>> items() const;

    // As another type; a number must be in its range, and whole when that is an integer.
    template <class T> T get() const
    {
        if constexpr (std::same_as<T, json>)
            return *this;
        else if constexpr (std::same_as<T, bool>)
            return to_boolean();
        else if constexpr (std::floating_point<T>)
            return static_cast<T>(to_real());
        else if constexpr (std::signed_integral<T>)
            return static_cast<T>(
                to_integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
        else if constexpr (std::unsigned_integral<T>)
            return static_cast<T>(to_natural(std::numeric_limits<T>::max()));
        else if constexpr (std::same_as<T, std::string>)
            return to_text();
        else
            return to_list<T>();
    }
    template <class T>
    requires(!std::is_pointer_v<T> && !std::same_as<T, json> && !std::same_as<T, char> &&
             !std::same_as<T, std::nullptr_t> &&
             (std::is_arithmetic_v<T> || std::same_as<T, std::string> ||
              requires(T list) { list.insert(list.end(), *list.begin()); }))
    operator T() const
    {
        return get<T>();
    }

    friend bool operator==(const json &a, const json &b)
    {
        return compare(a, b) == 0;
    }
    friend std::partial_ordering operator<=>(const json &a, const json &b)
    {
        return compare(a, b);
    }
    // For numbers as they are; without these a number could also become a value's type.
    template <class T>
    requires std::is_arithmetic_v<T>
    friend bool operator==(const json &a, T b)
    {
        return compare(a, json(b)) == 0;
    }
    template <class T>
    requires std::is_arithmetic_v<T>
    friend std::partial_ordering operator<=>(const json &a, T b)
    {
        return compare(a, json(b));
    }
    friend std::ostream &operator<<(std::ostream &out, const json &value);

  private:
    enum kind { NONE, BOOLEAN, INTEGER, NATURAL, REAL, OBJECT, ARRAY, STRING };
    union content {
        bool boolean;
        int64_t integer;
        uint64_t natural;
        double real;
        object_type *object;
        array_type *array;
        std::string *text;
    };

    content &set(kind k)
    {
        kind_ = k;
        return as_;
    }
    void become_array();
    [[noreturn]] void refuse(const char *wanted) const;
    json &element(size_t index);
    void erase_element(size_t index);
    bool to_boolean() const;
    double to_real() const;
    int64_t to_integer(int64_t min, int64_t max) const;
    uint64_t to_natural(uint64_t max) const;
    const std::string &to_text() const;
    template <class T> T to_list() const
    {
        T list;
        if (kind_ != ARRAY)
            refuse("an array");
        for (const json &value : *as_.array)
            list.insert(list.end(), value.get<typename T::value_type>());
        return list;
    }
    static std::partial_ordering compare(const json &a, const json &b);
    void print(std::string &out, int indent, int depth) const;

    kind kind_;
    content as_;
};

// Goes over an array's elements or an object's members.
template <class J> class json::cursor
{
  public:
    using value_type = json;
    using reference = J &;
    using pointer = J *;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::bidirectional_iterator_tag;

    cursor() = default;
    J &operator*() const
    {
        return in_object_ ? member_->second : *element_;
    }
    J *operator->() const
    {
        return &**this;
    }
    const std::string &key() const
    {
        return member_->first;
    }
    J &value() const
    {
        return **this;
    }
    cursor &operator++()
    {
        if (in_object_)
            ++member_;
        else
            ++element_;
        return *this;
    }
    cursor operator++(int)
    {
        cursor before = *this;
        ++*this;
        return before;
    }
    cursor &operator--()
    {
        if (in_object_)
            --member_;
        else
            --element_;
        return *this;
    }
    bool operator==(const cursor &other) const
    {
        return in_object_ == other.in_object_ &&
               (in_object_ ? member_ == other.member_ : element_ == other.element_);
    }

  private:
    friend class json;
    using member_iterator =
        std::conditional_t<std::is_const_v<J>, object_type::const_iterator,
                           object_type::iterator>;
    explicit cursor(J *element) : element_(element)
    {
    }
    explicit cursor(member_iterator m) : member_(m), in_object_(true)
    {
    }
    J *element_ = nullptr;
    member_iterator member_{};
    bool in_object_ = false;
};

template <class J> struct json::member {
    const std::string &name;
    J &content;
    const std::string &key() const
    {
        return name;
    }
    J &value() const
    {
        return content;
    }
};

json operator""_json(const char *text, size_t length);
json::json_pointer operator""_json_pointer(const char *text, size_t length);

// The names under which test files know this.
namespace nlohmann
{
using ::json;
namespace literals
{
using ::operator""_json;
using ::operator""_json_pointer;
} // namespace literals
} // namespace nlohmann
