// picture_support.hpp - SVG read with a real XML parser.
#pragma once
#include "tests/support.hpp"

#include <expat.h>
#include <map>

// What a picture holds. Requires that it is well-formed.
struct picture {
    std::string text;
    std::map<std::string, size_t> elements;
    std::vector<std::string> texts, titles, italics;
    std::vector<std::pair<std::string, double>> bar_places; // first line of the title, y

    explicit picture(const std::string &svg) : text(svg)
    {
        XML_Parser parser = XML_ParserCreate(nullptr);

        XML_SetUserData(parser, this);
        XML_SetElementHandler(parser, on_start, on_end);
        XML_SetCharacterDataHandler(parser, on_text);
        bool well = XML_Parse(parser, svg.data(), (int)svg.size(), 1) == XML_STATUS_OK;
        INFO(XML_ErrorString(XML_GetErrorCode(parser))
             << ", line " << XML_GetCurrentLineNumber(parser));
        INFO(svg.substr(0, 3000));
        XML_ParserFree(parser);
        REQUIRE(well);
        REQUIRE(elements["svg"] == 1);
    }
    size_t bars() const
    {
        auto found = elements.find("rect");
        return found == elements.end() ? 0 : found->second;
    }
    bool has_text(const std::string &wanted) const
    {
        for (auto &t : texts)
            if (t == wanted)
                return true;
        return false;
    }
    bool has_title(const std::string &wanted) const
    {
        for (auto &t : titles)
            if (t == wanted)
                return true;
        return false;
    }
    std::string notes() const
    {
        std::string all;
        for (auto &t : italics)
            all += (all.empty() ? "" : "\n") + t;
        return all;
    }
    double y_of(const std::string &id) const
    {
        for (auto &[name, y] : bar_places)
            if (name == id)
                return y;
        FAIL("no bar " << id);
        return 0;
    }

  private:
    std::string now_;
    bool italic_ = false;

    static void on_start(void *self, const char *name, const char **attributes)
    {
        picture *p = static_cast<picture *>(self);

        p->elements[name]++;
        p->now_.clear();
        p->italic_ = false;
        for (size_t i = 0; attributes[i]; i += 2) {
            if (std::string(attributes[i]) == "font-style")
                p->italic_ = true;
            if (std::string(attributes[i]) == "y" && std::string(name) == "rect")
                p->bar_places.emplace_back(
                    p->titles.back().substr(0, p->titles.back().find('\n')),
                    atof(attributes[i + 1]));
        }
    }
    static void on_end(void *self, const char *name)
    {
        picture *p = static_cast<picture *>(self);

        if (std::string(name) == "text")
            (p->italic_ ? p->italics : p->texts).push_back(p->now_);
        if (std::string(name) == "title")
            p->titles.push_back(p->now_);
        p->now_.clear();
    }
    static void on_text(void *self, const char *text, int length)
    {
        static_cast<picture *>(self)->now_.append(text, (size_t)length);
    }
};
