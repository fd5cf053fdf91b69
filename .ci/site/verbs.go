package main

import (
	"context"
	"fmt"
	"html/template"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// example is a command that a page shows, with its output if it shows that too.
type example struct {
	verb, text, page, url string
	hasOutput             bool
}

// splitExamples are the commands of a block of a page.
func splitExamples(p *page, block string) (list []example) {
	for _, text := range strings.Split("\n"+block, "\n$ ")[1:] {
		fields := strings.Fields(text)
		line, output, _ := strings.Cut(strings.TrimSpace(text), "\n")
		if len(fields) > 1 && fields[0] == "ufs-stream" {
			list = append(list, example{fields[1], "$ " + line + "\n" + output, p.Title, p.sections[len(p.sections)-1].URL, output != ""})
		}
	}
	return list
}

// withoutExample are verbs whose output is a script, or depends on the machine.
var withoutExample = map[string]bool{"completion": true, "version": true, "methods": true, "help": true}

// pictures are what verbs make that is no text.
var pictures = map[string]string{"report": "docs/report.png"}

// addExamples shows on the page of each verb the first output of it that any page has, or else its first command.
func addExamples(pages []*page, images map[string]bool) error {
	first := map[string]example{}
	for _, p := range pages {
		for _, e := range p.examples {
			if old, ok := first[e.verb]; !ok || e.hasOutput && !old.hasOutput {
				first[e.verb] = e
			}
		}
	}
	for _, p := range pages {
		verb, isVerb := strings.CutPrefix(p.Title, "ufs-stream ")
		if p.path != "" || !isVerb || withoutExample[verb] {
			continue
		}
		e, ok := first[verb]
		if !ok {
			return fmt.Errorf("no page shows a command of the verb %s", verb)
		}
		shown := fmt.Sprintf("<h2 id=\"example\">Example</h2>\n<p>From <a href=\"%s\">%s</a>:</p>\n<pre><code>%s</code></pre>\n", e.url, template.HTMLEscapeString(e.page), template.HTMLEscapeString(e.text))
		if picture := pictures[verb]; picture != "" {
			images[picture] = true
			shown += fmt.Sprintf("<p><img src=\"%s\" alt=\"what %s makes\"></p>\n", picture[strings.LastIndex(picture, "/")+1:], p.Title)
		}
		p.Body += template.HTML(shown) //nolint:gosec // escaped above
		p.Headings = append(p.Headings, heading{"example", "Example"})
	}
	return nil
}

var verbLine = regexp.MustCompile(`(?m)^  (?:ufs-stream )?([a-z]+) {2,}(\S.*)$`)

// renderVerbs makes a page of each verb's help, which is also the source of the man pages.
func renderVerbs(ctx context.Context, program string) (pages []*page, err error) {
	help, err := helpOf(ctx, program)
	if err != nil {
		return nil, err
	}
	_, list, _ := strings.Cut(help, "Available Commands:\n")
	for _, found := range verbLine.FindAllStringSubmatch(list, -1) {
		verb := found[1]
		text, err := helpOf(ctx, program, verb)
		if err != nil {
			return nil, err
		}
		p := &page{Group: "Verbs", Title: "ufs-stream " + verb, URL: "verb-" + verb + ".html"}
		body := fmt.Sprintf("<h1>%s</h1>\n<p>%s.</p>\n%s", p.Title, template.HTMLEscapeString(found[2]), helpHTML(text))
		p.Body = template.HTML(body) //nolint:gosec // escaped where it is made
		p.sections = []section{{found[2], p.Title, p.URL, strings.Join(strings.Fields(text), " ")}}
		pages = append(pages, p)
	}
	if len(pages) == 0 {
		return nil, fmt.Errorf("%s --help lists no verbs", program)
	}
	return pages, nil
}

func helpOf(ctx context.Context, program string, verb ...string) (string, error) {
	out, err := exec.CommandContext(ctx, program, append(slices.Clone(verb), "--help")...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s --help: %w", program, strings.Join(verb, " "), err)
	}
	return string(out), nil
}

var flagLine = regexp.MustCompile(`^ {2,6}(-.*?) {2,}(\S.*)$`)

// helpHTML renders a help text: paragraphs, indented lines as they are, and flags as a list of terms.
func helpHTML(text string) string {
	var b strings.Builder
	open := ""        // the element that the next line may continue
	hasUsage := false // below it, lines that end with a colon are headings
	begin := func(element string) {
		if open == element {
			return
		}
		if open != "" {
			b.WriteString("</" + open + ">\n")
		}
		if open = element; element != "" {
			b.WriteString("<" + element + ">")
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		escaped := template.HTMLEscapeString(line)
		switch flag := flagLine.FindStringSubmatch(line); {
		case line == "":
			begin("")
		case flag != nil:
			begin("dl")
			fmt.Fprintf(&b, "<dt><code>%s</code></dt><dd>%s\n", template.HTMLEscapeString(flag[1]), template.HTMLEscapeString(flag[2]))
		case open == "dl" && strings.HasPrefix(line, strings.Repeat(" ", 12)): // the line before goes on
			b.WriteString(strings.TrimSpace(escaped) + "\n")
		case strings.HasPrefix(line, "  "):
			begin("pre")
			b.WriteString(escaped + "\n")
		case line == "Usage:" || hasUsage && open == "" && strings.HasSuffix(line, ":"):
			hasUsage = true
			b.WriteString("<h2>" + strings.TrimSuffix(escaped, ":") + "</h2>\n")
		default:
			begin("p")
			b.WriteString(escaped + "\n")
		}
	}
	begin("")
	return b.String()
}
