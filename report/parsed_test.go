package report

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
)

// renamed puts another text in the place of every one in a document: names, files, options, reasons, warnings.
func renamed(v reflect.Value, text func() string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text())
	case reflect.Pointer:
		if !v.IsNil() {
			renamed(v.Elem(), text)
		}
	case reflect.Interface:
		if s, is := v.Interface().(string); is && s != "" {
			v.Set(reflect.ValueOf(text()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type().Field(i).Name != "Schema" {
				renamed(v.Field(i), text)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			renamed(v.Index(i), text)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			renamed(value, text)
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(reflect.ValueOf(text()), value)
		}
	}
}

// documents are one of each kind.
func documents(t *testing.T) []Document {
	return []Document{hostileSelection(), gridDocument(), curveDocument(), *must.Get(Read("eval.json", strings.NewReader(evalJSON)))(t)}
}

// parts are what an HTML parser finds in a page: its kinds of elements with their attributes, comments among
// them, and the texts of scripts and styles. texts are all others, and the values of attributes.
func parts(t *testing.T, page string) (kinds map[string]bool, active []string, texts string) {
	kinds = map[string]bool{}
	var b strings.Builder
	for n := range must.Get(html.Parse(strings.NewReader(page)))(t).Descendants() {
		switch n.Type {
		case html.ElementNode:
			for _, a := range n.Attr {
				kinds[n.Data+" "+a.Key] = true
				b.WriteString(a.Val + "\n")
				if slices.Contains([]string{"href", "src", "action", "srcset"}, a.Key) && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "data:image/png;base64,") {
					t.Errorf("the page loads <%s %s=%q>", n.Data, a.Key, a.Val)
				}
			}
			kinds[n.Data] = true
		case html.TextNode:
			if p := n.Parent.Data; p == "script" || p == "style" {
				active = append(active, n.Data)
			} else {
				b.WriteString(n.Data + "\n")
			}
		case html.CommentNode, html.RawNode, html.ErrorNode:
			kinds["comment"] = true
		}
	}
	return kinds, active, b.String()
}

// TestPageParsed: whatever stands in the texts of documents, of every kind and all together, an HTML parser finds
// the elements, attributes, scripts and styles that a page of plain texts has, and the texts as texts.
func TestPageParsed(t *testing.T) {
	plain := map[string]bool{}
	var active []string
	for _, text := range []string{"plain", strings.Repeat("long ", 2000), "", "px"} { // of which some show otherwise
		n := 0
		list := documents(t)
		for i := range list {
			renamed(reflect.ValueOf(&list[i]).Elem(), func() string {
				n++
				switch text {
				case "":
					return ""
				case "px":
					return fmt.Sprintf("px_%d_%d", n/20, n%20)
				}
				return text + fmt.Sprint(n)
			})
		}
		kinds, own, _ := parts(t, pageOf(t, list...))
		for kind := range kinds {
			plain[kind] = true
		}
		if active = own; kinds["comment"] || len(own) == 0 {
			t.Errorf("%q: %v, %d scripts and styles", drawing.TruncateText(text, 20), kinds, len(own))
		}
	}
	for _, name := range append(hostileNames(), `--><script>alert(3)</script>`, `</bdi></td></table></body><p onclick=x>`, `' onmouseover='alert(4)`, "&lt;script&gt;", "\x00<b>", "</svg><style>*{}</style>", "]]>", "</title><link rel=stylesheet href=x>") {
		n := 0
		list := documents(t)
		for i := range list {
			renamed(reflect.ValueOf(&list[i]).Elem(), func() string {
				n++
				return name + fmt.Sprint(n%50)
			})
		}
		page := pageOf(t, list...)
		kinds, own, texts := parts(t, page)
		for kind := range kinds {
			if !plain[kind] {
				t.Errorf("%q makes <%s>", drawing.TruncateText(name, 60), kind)
			}
		}
		if !slices.Equal(own, active) {
			t.Errorf("%q changes a script or a style", drawing.TruncateText(name, 60))
		}
		if len(name) < 50 && !strings.ContainsAny(name, "\x00\x01\x7f\u202e\u200f\n") && !strings.Contains(texts, name) {
			t.Errorf("%q is not there as a text", name)
		}
	}
}
