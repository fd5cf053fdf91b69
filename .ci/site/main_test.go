package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// standIn is a program with three verbs.
const standIn = `#!/bin/sh
case $1 in
--help) printf 'A program.\n\nAvailable Commands:\n  apply       Write columns\n  select      Choose <some>\n  version     Print the version\n' ;;
*) printf 'Does the job:\n  as this\n\nUsage:\n  ufs-stream %s [flags]\n\nFlags:\n  -k, --k N         N of them\n                    or all & more\n      --where EXPR  only a < b\n' "$1" ;;
esac
`

func renderRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program, out := filepath.Join(dir, "program"), filepath.Join(dir, "out")
	if err := os.WriteFile(program, []byte(standIn), 0o755); err != nil {
		t.Fatalf("writing the program: %v", err)
	}
	if err := writeSite(t.Context(), filepath.Join("..", ".."), program, "0123abcd", out); err != nil {
		t.Fatalf("writing the site: %v", err)
	}
	return out
}

// TestFinishedPages looks at the pages of this repository as a browser does: the place of each link is there, and
// nothing is loaded from elsewhere.
func TestFinishedPages(t *testing.T) {
	out := renderRepository(t)
	paths, err := filepath.Glob(filepath.Join(out, "*.html"))
	if err != nil || len(paths) < 20 {
		t.Fatalf("got %d pages and error %v, want 20 or more", len(paths), err)
	}
	pages := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("reading a page: %v", err)
		}
		pages[filepath.Base(path)] = string(text)
	}
	elements := regexp.MustCompile(`<(\w+)[^>]* (?:href|src)="([^"]*)"`)
	for name, text := range pages {
		for _, found := range elements.FindAllStringSubmatch(text, -1) {
			element, url := found[1], found[2]
			if strings.Contains(url, "://") {
				if element != "a" {
					t.Errorf("%s loads %s", name, url)
				}
				continue
			}
			file, anchor, hasAnchor := strings.Cut(url, "#")
			if file == "" {
				file = name
			}
			if _, err := os.Stat(filepath.Join(out, file)); err != nil {
				t.Errorf("%s links to %s: no file %s", name, url, file)
			}
			if hasAnchor && !strings.Contains(pages[file], ` id="`+anchor+`"`) {
				t.Errorf("%s links to %s: no anchor %s", name, url, anchor)
			}
		}
	}
}

// TestVerbPage: the page of a verb has its help, escaped, and an output that another page shows.
func TestVerbPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(renderRepository(t), "verb-select.html"))
	if err != nil {
		t.Fatalf("reading the page: %v", err)
	}
	for _, want := range []string{
		"<p>Choose &lt;some&gt;.</p>", "<p>Does the job:\n</p>\n<pre>  as this\n</pre>", "<h2>Usage</h2>",
		"<dt><code>-k, --k N</code></dt><dd>N of them\nor all &amp; more\n", "<dt><code>--where EXPR</code></dt><dd>only a &lt; b\n",
		"<code>$ ufs-stream select data -k 6\ngreedy: 6 of 48 features",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("verb-select.html lacks %q", want)
		}
	}
}

// TestRefusals: links that lead nowhere, and HTML, are errors that name the page.
func TestRefusals(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a.md": "# A\n\n[b](b.md#there) and [itself](#a)\n", "b.md": "# B\n\n## There\n",
		"anchor.md": "# C\n\n[b](b.md#elsewhere)\n", "file.md": "# D\n\n[none](none.go)\n", "outside.md": "# E\n\n[out](../x)\n", "html.md": "# F\n\n<b>x</b>\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatalf("writing a page: %v", err)
		}
	}
	for name, want := range map[string]string{
		"a.md": "", "anchor.md": "anchor.md links to b.html#elsewhere", "file.md": "file.md links to none.go", "outside.md": "outside.md links to ../x", "html.md": "html.md has HTML",
	} {
		s := &site{root: root, urls: map[string]string{"b.md": "b.html", name: pageURL(name)}, images: map[string]bool{}}
		p, err := s.renderMarkdown("", name)
		b, err2 := s.renderMarkdown("", "b.md")
		if err2 != nil {
			t.Fatalf("rendering b.md: %v", err2)
		}
		got := ""
		if err != nil {
			got = err.Error()
		} else if broken := brokenLinks([]*page{p, b}); len(broken) > 0 {
			got = broken[0].Error()
		}
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
