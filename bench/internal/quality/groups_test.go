package quality

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

func TestKindOf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kinds.csv")
	must.Do(t, os.WriteFile(file, []byte("orl,text\nmine, sensors\n"), 0o666))
	o := &options{namedKinds: must.Get(readKinds(file))(t)}
	for name, want := range map[string]string{
		"COIL20": kindPictures, "basehock": kindText, "isolet": kindSensors, "musk1": kindTables, "sc_pollen": kindGenes, "tox171": kindGenes, "su": kindGenes,
		"made-words": kindGenerated, "lake-3-apart": kindLakes, "unheard_of": kindOther, "sugar": kindOther,
		"orl": kindText, "mine": kindSensors, // by the file
	} {
		if got := o.kindOf(name, []stream.Column{{Name: "f0001"}}); got != want {
			t.Errorf("%s is of kind %s, want %s", name, got, want)
		}
	}
	if got := o.kindOf("unheard_of", []stream.Column{{Name: "px_0_0"}}); got != kindPictures {
		t.Errorf("a set of pixels is of kind %s", got)
	}
	for kind, globs := range knownKinds {
		for _, glob := range strings.Fields(globs) {
			if _, err := path.Match(glob, ""); err != nil || !slices.Contains(kindOrder, kind) {
				t.Errorf("%s of kind %s: %v", glob, kind, err)
			}
		}
	}
	must.Do(t, os.WriteFile(file, []byte("orl\n"), 0o666))
	if _, err := readKinds(file); err == nil {
		t.Error("a line without a kind was read")
	}
}

// TestHoldOut: half of every kind is held out, for any order of the sets; another seed holds out others, and
// generated sets stay.
func TestHoldOut(t *testing.T) {
	var sets []dataset
	for kind, count := range map[string]int{kindPictures: 6, kindText: 5, kindGenes: 7, kindTables: 1, kindGenerated: 4, kindLakes: 3} {
		for i := range count {
			sets = append(sets, dataset{name: fmt.Sprint(kind, i), kind: kind})
		}
	}
	heldOut := func(seed uint64) (names []string, counts map[string]int) {
		counts = make(map[string]int)
		of := slices.Clone(sets)
		holdOut(of, seed)
		for _, s := range of {
			if s.heldOut {
				names = append(names, s.name)
				counts[s.kind]++
			}
		}
		slices.Sort(names)
		return names, counts
	}
	names, counts := heldOut(1)
	// Of 5 texts 2, of 1 table 1, of 7 genes 3: the larger half of every second odd number.
	if want := map[string]int{kindPictures: 3, kindText: 2, kindTables: 1, kindGenes: 3}; fmt.Sprint(counts) != fmt.Sprint(want) {
		t.Errorf("held out are %v, want %v", counts, want)
	}
	slices.Reverse(sets)
	if again, _ := heldOut(1); !slices.Equal(again, names) {
		t.Errorf("held out are %v, and of the sets in another order %v", names, again)
	}
	if other, _ := heldOut(2); slices.Equal(other, names) {
		t.Errorf("two seeds hold out %v", names)
	}
}
