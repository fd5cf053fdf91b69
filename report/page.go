package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"io"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Page is a report on one or more documents.
type Page struct {
	Documents []Document
	Version   string          // version of the program that writes the page
	Spelling  stream.Spelling // how options are written; nil writes their bare names
}

//go:embed style.css
var styleCSS string

//go:embed script.js
var scriptJS string

// WriteHTML writes the page as one file. The page does not load other files, whichever values it contains.
func (p Page) WriteHTML(w io.Writer) error {
	v, err := p.buildView()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, string(renderPage(v)))
	return err
}

func renderPage(v *pageView) markup {
	var title, links, compared markup
	if len(v.Sections) == 1 {
		title, links = formatHTML(": %s", briefName(v.Sections[0].Name)), renderContents(&v.Sections[0])
	} else {
		links = formatIf(v.Compare != nil, `<li><a href="#compare">Comparison</a></li>`) + renderEach(v.Sections, func(s sectionView) markup {
			return formatHTML(`<li><a href="#%s"><bdi>%s</bdi></a></li>`, s.ID, briefName(s.Name))
		})
	}
	if v.Compare != nil {
		compared = formatHTML(`
<section id="compare" aria-labelledby="compare-h">
<h2 id="compare-h" class="hide">Comparison of the selections</h2>
%s
%s
</section>`, renderOpening(v.Opening), renderCompare(v.Compare))
	}
	// The policy allows only this style and script, and no style attributes, event attributes or loads. So even a value
	// that was not escaped could not do harm.
	policy := "default-src 'none'; img-src data:; style-src " + contentPolicyHash(styleCSS) + "; script-src " + contentPolicyHash(scriptJS) +
		"; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
	return formatHTML(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>%s%s</title>
<style>%s</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<div>
<h1>%[2]s</h1>
<p class="lead">%[5]s</p>
</div>
<button id="theme" type="button" aria-pressed="false" hidden>Dark</button>
</header>
<nav aria-label="Contents">
<ul>%s
</ul>
</nav>
<main id="main" tabindex="-1">%s%s
</main>
<footer><p>Made by ufs-stream %s. This page is complete in itself and loads nothing.</p></footer>
<script>%s</script>
</body>
</html>
`, policy, v.Title, title, markup(styleCSS), v.Lead, links, compared, renderEach(v.Sections, renderDocument), v.Version, markup(scriptJS))
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
