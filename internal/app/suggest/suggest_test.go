package suggest

import "testing"

func TestName(t *testing.T) {
	among := []string{"price", "prices", "label", "weight", "größe"}
	for name, want := range map[string]string{
		"pirce": "price", "Label": "label", "wieght": "weight", "x": "", "temperature": "", "grösse": "größe", "": "", "y": "",
	} {
		if got := NearestName(name, among); got != want {
			t.Errorf("Name(%q) = %q, want %q", name, got, want)
		}
	}
}
