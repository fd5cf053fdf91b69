package quality

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// finding is how good the choices of a variant are on a set.
type finding struct {
	Set         string       `json:"set"`
	Fingerprint string       `json:"fingerprint"` // of the set's file
	Variant     string       `json:"variant"`
	Settled     string       `json:"settled"` // what shapes the choice
	Judged      string       `json:"judged"`  // what shapes the scores
	Sources     string       `json:"sources"` // digest of the method's sources
	Limits      string       `json:"limits"`  // within which it ran
	Choices     []choiceMade `json:"choices"`
}

// choiceMade is the choice of one number of features. Scores are shares of 1, absent where the
// choice was refused or the set has no label.
type choiceMade struct {
	Percent   float64        `json:"percent"` // 0: as many as a run takes that names no number
	K         int            `json:"k"`
	Chosen    int            `json:"chosen"`        // less than K where the method had no more
	Ran       string         `json:"ran,omitempty"` // method and scale
	scores                   // by the columns as they are in the file
	Standard  *scores        `json:"standardized,omitempty"` // by the columns standardized
	Cosine    *scores        `json:"cosine,omitempty"`       // by every row divided by its length
	Error     stream.Number  `json:"error"`                  // of reconstruction, of standardized columns
	Stability *stream.Number `json:"stability,omitempty"`    // Nogueira's, over half-samples
	Covered   *stream.Number `json:"covered,omitempty"`      // groups of a generated set's answer with a chosen column
	Seconds   float64        `json:"seconds"`
	Refusal   string         `json:"refusal,omitempty"`
}

// rankedScores are the scores that tables rank by: of text by the directions of rows, as its lengths are
// those of documents; of all else by the columns as they are.
func (c choiceMade) rankedScores(kind string) scores {
	switch {
	case kind != kindText:
		return c.scores
	case c.Cosine == nil:
		return scores{}
	}
	return *c.Cosine
}

// shareFound is the share of the answer's groups that are covered, of as many as so many features could.
func (c choiceMade) shareFound(s dataset) float64 {
	return number(c.Covered) / float64(max(min(len(s.answer), c.Chosen), 1))
}

// key tells findings apart. An equal key means an equal finding, times aside, unless limits had
// it refused.
func (f finding) key() [6]string {
	return [6]string{f.Set, f.Fingerprint, f.Variant, f.Settled, f.Judged, f.Sources}
}

// findings are those of a file of JSON lines, to which new ones are appended one by one: who
// interrupts a run loses none. Close it.
type findings struct {
	path string
	file *os.File
	list map[[6]string]finding
}

// openFindings reads the file, if it is there. A line that was cut off, by a full disk or a
// loss of power, does not count.
func openFindings(path string) (*findings, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, &stream.OutputError{Path: path, Err: err}
	}
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, &stream.OutputError{Path: path, Err: err}
	}
	f := &findings{path: path, list: make(map[[6]string]finding)}
	for line := range bytes.Lines(text) {
		var one finding
		if json.Unmarshal(line, &one) == nil {
			f.list[one.key()] = one
		}
	}
	if f.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666); err != nil {
		return nil, &stream.OutputError{Path: path, Err: err}
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		if _, err := f.file.WriteString("\n"); err != nil {
			f.file.Close()
			return nil, &stream.OutputError{Path: path, Err: err}
		}
	}
	return f, nil
}

// known is what is there of a finding yet to be made. A choice that was refused may succeed
// within other limits.
func (f *findings) known(want finding) (finding, bool) {
	one, ok := f.list[want.key()]
	refused := slices.ContainsFunc(one.Choices, func(c choiceMade) bool { return c.Refusal != "" })
	return one, ok && (!refused || one.Limits == want.Limits)
}

// add appends a finding, whole.
func (f *findings) add(one finding) error {
	line, err := json.Marshal(one)
	if err != nil {
		return err
	}
	if _, err := f.file.Write(append(line, '\n')); err != nil {
		return &stream.OutputError{Path: f.path, Err: err}
	}
	f.list[one.key()] = one
	return nil
}

// Close closes the file.
func (f *findings) Close() error { return f.file.Close() }
