package main

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

const repository = "https://github.com/ufs-stream/ufs-stream"

// site is what the rendering of pages needs and gathers.
type site struct {
	root, commit string
	urls         map[string]string // of the pages, by the path of their file
	images       map[string]bool   // paths of the images that pages show
}

func (s *site) renderMarkdown(group, path string) (*page, error) {
	source, err := os.ReadFile(filepath.Join(s.root, path))
	if err != nil {
		return nil, err
	}
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	document := markdown.Parser().Parse(text.NewReader(source))
	p := &page{Group: group, URL: s.urls[path], path: path}
	err = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		return ast.WalkContinue, s.addNode(p, n, source)
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, document); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	wide := strings.NewReplacer("<table>", `<div class="wide"><table>`, "</table>", "</table></div>")
	p.Body = template.HTML(wide.Replace(b.String())) //nolint:gosec // the repository's own pages, in which goldmark has escaped everything
	return p, nil
}

// addNode notes the headings, links, text and examples of a page, and leads the links to where they are on the site.
func (s *site) addNode(p *page, n ast.Node, source []byte) (err error) {
	switch n := n.(type) {
	case *ast.Heading:
		title := plainText(n, source)
		id, _ := n.AttributeString("id")
		h := heading{fmt.Sprintf("%s", id), title}
		if p.Title == "" {
			p.Title = title
		}
		if n.Level == 2 {
			p.Headings = append(p.Headings, h)
		}
		p.sections = append(p.sections, section{p.Title, title, p.URL + "#" + h.ID, ""})
	case *ast.Link:
		n.Destination, err = s.resolve(p, n.Destination)
	case *ast.Image:
		name := path.Join(path.Dir(p.path), string(n.Destination))
		s.images[name] = true
		n.Destination = []byte(path.Base(name))
	case *ast.HTMLBlock:
		if !strings.HasPrefix(string(n.Lines().Value(source)), "<!--") {
			return fmt.Errorf("%s has HTML, which the site does not show: write it as Markdown", p.path)
		}
	case *ast.RawHTML:
		return fmt.Errorf("%s has HTML, which the site does not show: write it as Markdown", p.path)
	case *ast.FencedCodeBlock:
		code := string(n.Lines().Value(source))
		if string(n.Language(source)) == "console" {
			p.examples = append(p.examples, splitExamples(p, code)...)
		}
		p.addText(code)
	case *ast.CodeBlock:
		p.addText(string(n.Lines().Value(source)))
	case *ast.Paragraph, *ast.TextBlock, *east.TableCell:
		p.addText(plainText(n, source))
	}
	return err
}

// addText adds to what the search finds below the last heading.
func (p *page) addText(more string) {
	if len(p.sections) > 0 {
		last := &p.sections[len(p.sections)-1]
		last.Text = strings.TrimSpace(last.Text + " " + strings.Join(strings.Fields(more), " "))
	}
}

// resolve returns the place of a link on the site, or of the repository's public copy.
func (s *site) resolve(p *page, destination []byte) ([]byte, error) {
	to, err := url.Parse(string(destination))
	if err != nil || to.Scheme != "" {
		return destination, err
	}
	name := p.path
	if to.Path != "" {
		name = path.Join(path.Dir(p.path), to.Path)
	}
	for _, page := range []string{name, path.Join(name, "README.md")} {
		if target, ok := s.urls[page]; ok {
			if to.Fragment != "" {
				target += "#" + to.Fragment
			}
			p.links = append(p.links, link{p.path, target})
			return []byte(target), nil
		}
	}
	if _, err := os.Stat(filepath.Join(s.root, name)); err != nil || strings.HasPrefix(name, "..") {
		return nil, fmt.Errorf("%s links to %s, which does not exist", p.path, destination)
	}
	return []byte(repository + "/blob/" + s.commit + "/" + name), nil
}

// plainText is the text of a node without its marks.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // which returns no error
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Value(source))
			if t.SoftLineBreak() || t.HardLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
