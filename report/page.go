package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"

	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Page is a report on one or more documents.
type Page struct {
	Documents []Document
	Version   string          // version of the program that writes the page
	Spelling  stream.Spelling // how options are written; nil writes their bare names
}

//go:embed page.html
var pageHTML string

//go:embed compare.html
var compareHTML string

//go:embed section.html
var sectionHTML string

//go:embed tables.html
var tablesHTML string

//go:embed style.css
var styleCSS string

//go:embed script.js
var scriptJS string

// WriteHTML writes the page as one file. The page does not load other files, whichever values it contains.
func (p Page) WriteHTML(w io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"brief": func(s string) string { return drawing.TruncateText(s, maxBriefRunes) },
		"row": func(r rankRow, of *rankingView) any {
			return struct {
				Row rankRow
				Of  *rankingView
			}{r, of}
		},
		"long": func(s string) bool { return drawing.TruncateText(s, maxBriefRunes) != s },
		"tag":  truncateTag,
	}).Parse(pageHTML)
	if err != nil {
		return err
	}
	for _, part := range []string{compareHTML, sectionHTML, tablesHTML} {
		if t, err = t.Parse(part); err != nil {
			return err
		}
	}
	v, err := p.buildView()
	if err != nil {
		return err
	}
	v.Style, v.Script = template.CSS(styleCSS), template.JS(scriptJS)
	// The policy allows only this style and script, and no style attributes, event attributes or loads. So even a value
	// that was not escaped could not do harm.
	v.Policy = "default-src 'none'; img-src data:; style-src " + contentPolicyHash(styleCSS) + "; script-src " + contentPolicyHash(scriptJS) +
		"; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

func contentPolicyHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// documentNames returns the file names of the documents, with folders if two files share a name.
func (p Page) documentNames() []string {
	seen := map[string]int{}
	for i := range p.Documents {
		seen[p.Documents[i].shortName()]++
	}
	names := make([]string, len(p.Documents))
	for i := range p.Documents {
		d := &p.Documents[i]
		if names[i] = d.shortName(); seen[names[i]] > 1 {
			names[i] = d.Name
		}
	}
	return names
}
