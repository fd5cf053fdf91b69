// Command site renders the documentation of this repository as static pages with a search that needs no server: go -C
// .ci/site run . PROGRAM COMMIT OUT. The pages are the Markdown files that the repository has anyway, and the help of PROGRAM,
// verb by verb. A link or an anchor that leads nowhere is an error that names its page. Links to other files of the
// repository go to COMMIT of its public copy.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"
)

//go:embed page.html
var pageTemplate string

// groups are the Markdown files of the site, in the order of its table of contents. The verbs follow the second group.
var groups = []group{
	{"Begin", []string{"README.md", "docs/first-hour.md", "docs/recipes.md", "docs/faq.md", "docs/glossary.md"}},
	{"Guides", []string{"docs/methods.md", "docs/lakes.md", "docs/scale.md", "docs/performance.md", "python/README.md", "docs/go.md", "examples/README.md", "cmd/ufs-iceberg/README.md", "cmd/ufs-beam/README.md"}},
	{"Reference", []string{"docs/compatibility.md", "docs/statistics-file.md", "docs/agents.md", "docs/releases.md", "CHANGELOG.md"}},
	{"Project", []string{"docs/architecture.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"}},
}

// group is a part of the table of contents.
type group struct {
	Title string
	paths []string
}

// page is one page of the site.
type page struct {
	Group, Title, URL string
	Body              template.HTML
	Headings          []heading
	path              string // of the Markdown file, or empty
	sections          []section
	examples          []example
	links             []link
}

// heading is a heading of the second level.
type heading struct{ ID, Text string }

// section is what the search finds: the text below a heading.
type section struct {
	Page    string `json:"page"`
	Heading string `json:"heading"`
	URL     string `json:"url"`
	Text    string `json:"text"`
}

// link is a link within the site, to be checked once all pages are there.
type link struct{ from, url string }

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: site PROGRAM COMMIT OUT")
		os.Exit(2)
	}
	if err := writeSite(context.Background(), filepath.Join("..", ".."), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func writeSite(ctx context.Context, root, program, commit, out string) error {
	if err := errForMissingDocs(root); err != nil {
		return err
	}
	s := &site{root: root, commit: commit, urls: map[string]string{}, images: map[string]bool{}}
	for _, g := range groups {
		for _, path := range g.paths {
			s.urls[path] = pageURL(path)
		}
	}
	var pages []*page
	for i, g := range groups {
		for _, path := range g.paths {
			p, err := s.renderMarkdown(g.Title, path)
			if err != nil {
				return err
			}
			pages = append(pages, p)
		}
		if i == 1 {
			verbs, err := renderVerbs(ctx, program)
			if err != nil {
				return err
			}
			pages = append(pages, verbs...)
		}
	}
	if err := addExamples(pages, s.images); err != nil {
		return err
	}
	if err := errors.Join(brokenLinks(pages)...); err != nil {
		return err
	}
	return s.writePages(pages, out)
}

// errForMissingDocs refuses a page of docs/ that no group has.
func errForMissingDocs(root string) error {
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return err
	}
	listed := fmt.Sprint(groups)
	for _, path := range paths {
		if name := "docs/" + filepath.Base(path); !strings.Contains(listed, name) {
			return fmt.Errorf("%s is in no group of .ci/site/main.go: add it to one", name)
		}
	}
	return nil
}

// pageURL is index.html for the README, and otherwise has the name of the file, or of the folder of a README.
func pageURL(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".md")
	switch {
	case path == "README.md":
		name = "index"
	case name == "README":
		name = filepath.Base(filepath.Dir(path))
	}
	return strings.ToLower(name) + ".html"
}

// brokenLinks checks links within the site: their page exists, and so does the anchor in it.
func brokenLinks(pages []*page) (broken []error) {
	targets := map[string]bool{}
	for _, p := range pages {
		targets[p.URL] = true
		for _, s := range p.sections {
			targets[s.URL] = true
		}
	}
	for _, p := range pages {
		for _, l := range p.links {
			if !targets[l.url] {
				broken = append(broken, fmt.Errorf("%s links to %s, which does not exist", l.from, l.url))
			}
		}
	}
	return broken
}

func (s *site) writePages(pages []*page, out string) error {
	layout, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var index []section
	for _, p := range pages {
		index = append(index, p.sections...)
	}
	search := &page{Title: "Search", URL: "search.html"}
	for _, p := range append(pages, search) {
		data := struct {
			*page
			Pages []*page
			Index []section
		}{p, pages, nil}
		if p == search {
			data.Index = index
		}
		var b bytes.Buffer
		if err := layout.Execute(&b, data); err != nil {
			return fmt.Errorf("%s: %w", p.URL, err)
		}
		if err := os.WriteFile(filepath.Join(out, p.URL), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	for path := range s.images {
		image, err := os.ReadFile(filepath.Join(s.root, path))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, filepath.Base(path)), image, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%d pages, %d sections to search\n", len(pages)+1, len(index))
	return nil
}
