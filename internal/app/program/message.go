package program

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The values of Message.Event.
const (
	EventError   = "error"
	EventWarning = "warning"
	EventNote    = "note"
)

// Message is an error, a warning or a note on standard error, for programs: with --messages json each is one line. The
// members about the place and the remedy are set for errors only, as far as they are known.
type Message struct {
	Event   string `json:"event"`          // "error", "warning" or "note"
	Kind    string `json:"kind,omitempty"` // of an error: usage, data, memory, unconverged, stale, undecided, temporary, interrupted, output or fault
	Message string `json:"message"`        // the sentence that people see

	Path     string `json:"path,omitempty"`      // file or object
	RowGroup *int   `json:"row_group,omitempty"` // zero-based, within the file
	Column   string `json:"column,omitempty"`
	Row      *int64 `json:"row,omitempty"` // zero-based, within the file

	Remedy  string `json:"remedy,omitempty"`  // of an error, in words
	Command string `json:"command,omitempty"` // the command to try next, for a shell, if there is one
	Trace   string `json:"trace,omitempty"`   // of an internal fault

	ExitCode int `json:"exit_code,omitempty"` // of an error
}

// WriteJSON writes the message to page as a line of JSON, without possible secrets.
func (m Message) WriteJSON(page *screen.Page) {
	for _, text := range []*string{&m.Message, &m.Path, &m.Column, &m.Remedy, &m.Command, &m.Trace} {
		*text = screen.Redact(*text)
	}
	screen.WriteJSONLine(page, m)
}

// describeError makes the message about the error of cmd. After an interruption it only describes an output that was not
// written, because other errors are usually caused by the interruption.
func (p Program) describeError(cmd *cobra.Command, err error, retry []string, code int) Message {
	spelling := spellingFor(cmd)
	m := Message{Event: EventError, Kind: exit.KindOf(code), ExitCode: code}
	if p.Remedy != nil {
		m.Remedy, m.Command = p.Remedy(err, retry)
	}
	unsaved, isUnsaved := errors.AsType[*stream.OutputError](err)
	if code == exit.Interrupted {
		if m.Message = "interrupted"; !isUnsaved {
			return m
		}
		m.Message += "; " + stream.Spell(unsaved, spelling)
		err = unsaved
	} else {
		m.Message = stream.Spell(err, spelling)
	}
	m.Remedy = cmp.Or(m.Remedy, stream.RemedyOf(err).Spell(spelling))
	if isUnsaved {
		m.Path = unsaved.Path
		if code == exit.Fault {
			m.Kind = "output"
		}
	}
	if bad, ok := errors.AsType[*stream.DataError](err); ok {
		m.Path, m.Column = cmp.Or(m.Path, bad.Path), bad.Column
		if bad.RowGroup >= 0 {
			m.RowGroup = &bad.RowGroup
		}
		if bad.Row >= 0 {
			m.Row = &bad.Row
		}
	}
	return m
}
