package report

import (
	"bytes"
	"html/template"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestFormatHTMLEscapes: values stand in texts and attributes as html/template writes them there, which also escapes the plus sign.
func TestFormatHTMLEscapes(t *testing.T) {
	twin := template.Must(template.New("").Parse(`<p title="{{.Value}}">{{.Value}}{{.Raw}}</p>`))
	for _, value := range []any{"", "plain", `a "b" 'c' <d> & e`, "\x00\x01\r\n\t", "&lt;&#34;", "</p><script>alert(1)</script><!--", "\xff\xfe", "%s %!d", "“–”", 12, -3, 1.5, true} {
		var want bytes.Buffer
		must.Do(t, twin.Execute(&want, struct {
			Value any
			Raw   template.HTML
		}{value, "<b>&amp;</b>"}))
		if got := formatHTML(`<p title="%v">%v%s</p>`, value, value, markup("<b>&amp;</b>")); string(got) != want.String() {
			t.Errorf("%q is written as %s, want %s", value, got, want.String())
		}
	}
}
