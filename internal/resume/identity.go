package resume

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Identity contains everything that determines the states of a run, which continues only from states of equal Identity.
type Identity struct {
	What    string            `json:"what"` // the kind of states, in the plural: "statistics of a Gram matrix"
	Inputs  []stream.Input    `json:"inputs,omitempty"`
	Columns []stream.Column   `json:"columns,omitempty"`
	Options map[string]string `json:"options,omitempty"` // by option name
	// Facts contains everything else that determines the states, by names for messages such as "instruction set".
	Facts map[string]string `json:"facts,omitempty"`
}

// AddDigest adds a short digest of value as a fact. The value must be suitable for JSON.
func (i *Identity) AddDigest(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if i.Facts == nil {
		i.Facts = make(map[string]string)
	}
	sum := sha256.Sum256(text)
	i.Facts[name] = hex.EncodeToString(sum[:8])
	return nil
}

func (i *Identity) sha256Hex() (string, error) {
	text, err := json.Marshal(i)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// describeFirstDifference describes the first difference between i and the identity of the saved run. It returns the
// zero Text if they do not differ.
func (i *Identity) describeFirstDifference(saved *Identity) stream.Text {
	if i.What != saved.What {
		return stream.Textf("it holds %s, not %s", saved.What, i.What)
	}
	if t := describeInputDifference(i.Inputs, saved.Inputs); t.Format != "" {
		return t
	}
	if t := describeColumnDifference(i.Columns, saved.Columns); t.Format != "" {
		return t
	}
	for _, name := range sortedKeysOfBoth(i.Options, saved.Options) {
		if now, then := i.Options[name], saved.Options[name]; now != then {
			return stream.Textf("%v is %s, and was %s", stream.Option(name), shortenValue(now), shortenValue(then))
		}
	}
	for _, name := range sortedKeysOfBoth(i.Facts, saved.Facts) {
		if now, then := i.Facts[name], saved.Facts[name]; now != then {
			return stream.Textf("the %s is %s, and was %s", name, shortenValue(now), shortenValue(then))
		}
	}
	return stream.Text{}
}

func sortedKeysOfBoth(a, b map[string]string) []string {
	all := maps.Clone(a)
	if all == nil {
		all = make(map[string]string)
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

func shortenValue(value string) string {
	const most = 60
	switch {
	case value == "":
		return "not given"
	case len(value) > most:
		return value[:most] + "…"
	}
	return value
}

func describeInputDifference(now, saved []stream.Input) stream.Text {
	for k := range min(len(now), len(saved)) {
		a, b := now[k], saved[k]
		switch {
		case a.Path != b.Path:
			return stream.Textf("input %d is %s, and was %s", k+1, a.Path, b.Path)
		case a != b:
			return stream.Textf("input %s has changed", a.Path)
		}
	}
	if len(now) > len(saved) {
		return stream.Textf("input %s was not there", now[len(saved)].Path)
	}
	if len(now) < len(saved) {
		return stream.Textf("input %s is missing", saved[len(now)].Path)
	}
	return stream.Text{}
}

func describeColumnDifference(now, saved []stream.Column) stream.Text {
	for k := range min(len(now), len(saved)) {
		if now[k].Name != saved[k].Name {
			return stream.Textf("feature %d is %s, and was %s", k+1, now[k].Name, saved[k].Name)
		}
		if a, b := now[k], saved[k]; a.Type != b.Type || a.Block != b.Block {
			return stream.Textf("feature %s is of another type", now[k].Name)
		}
	}
	if len(now) != len(saved) {
		return stream.Textf("there are %d features, and there were %d", len(now), len(saved))
	}
	return stream.Text{}
}
