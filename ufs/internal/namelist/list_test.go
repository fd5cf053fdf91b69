package namelist

import (
	"testing"
)

// FuzzRead: any bytes give a list with ranks from 1 on and without equal names, or an error.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"a\nb\n", "rank,name\n2,a\n1,b\n", ",0\na,1\n", "\"a\nb\"\n", `["a", {"name": "b", "rank": 1}]`, `{"x": [], "selected": ["a"]}`, "a;b\n1;2\n", "\ufeff# x\n\n"} {
		f.Add("l.csv", []byte(text))
		f.Add("l", []byte(text))
	}
	f.Fuzz(func(t *testing.T, path string, text []byte) {
		l, err := Read(t.Context(), path, text, 1<<20)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for i, feature := range l.Features {
			if feature.Rank != i+1 || feature.Name == "" || seen[feature.Name] {
				t.Errorf("%q: feature %d of the list is %q with rank %d, want a new name with rank %d", text, i, feature.Name, feature.Rank, i+1)
			}
			seen[feature.Name] = true
		}
	})
}
