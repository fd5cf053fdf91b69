package quality

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// finding has the choices of a variant on a set, and their scores.
type finding struct {
	Set         string       `json:"set"`
	Fingerprint string       `json:"fingerprint"` // fingerprint of the set's file
	Variant     string       `json:"variant"`
	Settled     string       `json:"settled"` // settings that affect the choices
	Judged      string       `json:"judged"`  // settings that affect the scores
	Sources     string       `json:"sources"` // digest of the source files of the method
	Limits      string       `json:"limits"`  // limits of time and memory
	Choices     []choiceMade `json:"choices"`
}

// choiceMade has the scores of a choice of one number of features. Scores are between 0 and 1. They are missing if the
// method refused, or if the set has no label.
type choiceMade struct {
	Percent   float64        `json:"percent"` // share of the features; 0 if the method decides the number itself
	K         int            `json:"k"`
	Chosen    int            `json:"chosen"`        // number of chosen features, less than K if the method ranks fewer
	Ran       string         `json:"ran,omitempty"` // method and scale that were used
	scores                   // computed from the columns as stored in the file
	Standard  *scores        `json:"standardized,omitempty"` // computed from the standardized columns
	Cosine    *scores        `json:"cosine,omitempty"`       // computed from rows divided by their length
	Error     stream.Number  `json:"error"`                  // error of reconstructing all standardized columns
	Stability *stream.Number `json:"stability,omitempty"`    // Nogueira's, over half-samples
	Covered   *stream.Number `json:"covered,omitempty"`      // number of groups in the answer of a generated set that have a chosen column
	Seconds   float64        `json:"seconds"`
	Refusal   string         `json:"refusal,omitempty"`
}

// rankedScores returns the scores by which variants are ranked. For text these are the cosine scores, because the
// length of a row depends on that of the document. Otherwise they are the scores of the columns in the file.
func (c choiceMade) rankedScores(kind string) scores {
	switch {
	case kind != kindText:
		return c.scores
	case c.Cosine == nil:
		return scores{}
	}
	return *c.Cosine
}

// shareFound returns the number of covered groups divided by the largest number of groups that the choice could cover.
func (c choiceMade) shareFound(s dataset) float64 {
	return numberOrNaN(c.Covered) / float64(max(min(len(s.answer), c.Chosen), 1))
}

// identityKey returns texts that identify a finding. Findings with equal keys have the same choices and scores, unless
// a choice was refused because of the limits of time and memory. They may differ in measured times.
func (f finding) identityKey() [6]string {
	return [6]string{f.Set, f.Fingerprint, f.Variant, f.Settled, f.Judged, f.Sources}
}

// findingsFile is a file of JSON lines, one for each finding. Each finding is appended as soon as it is finished, so
// that an interruption does not lose it. The caller must close the file.
type findingsFile struct {
	path string
	file *os.File
	list map[[6]string]finding
}

func openFindings(path string) (*findingsFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, &stream.OutputError{Path: path, Err: err}
	}
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, &stream.OutputError{Path: path, Err: err}
	}
	f := &findingsFile{path: path, list: make(map[[6]string]finding)}
	for line := range bytes.Lines(text) {
		var one finding
		if json.Unmarshal(line, &one) == nil {
			f.list[one.identityKey()] = one
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

// findUsable looks up a finding. If a choice was refused under other limits of time or memory, the stored finding is
// not usable, because the choice may succeed now.
func (f *findingsFile) findUsable(want finding) (finding, bool) {
	stored, ok := f.list[want.identityKey()]
	refused := slices.ContainsFunc(stored.Choices, func(c choiceMade) bool { return c.Refusal != "" })
	return stored, ok && (!refused || stored.Limits == want.Limits)
}

func (f *findingsFile) appendFinding(one finding) error {
	line, err := json.Marshal(one)
	if err != nil {
		return err
	}
	if _, err := f.file.Write(append(line, '\n')); err != nil {
		return &stream.OutputError{Path: f.path, Err: err}
	}
	f.list[one.identityKey()] = one
	return nil
}

// Close closes the file.
func (f *findingsFile) Close() error { return f.file.Close() }
