package result

import (
	"github.com/ufs-stream/ufs-stream/stream"
)

// Inspection describes the contents of the input, or of a statistics file.
type Inspection struct {
	Kind     string            `json:"kind"` // "dataset", or "gram" and "profile" for statistics files
	Rows     *int64            `json:"rows"` // null if unknown
	Groups   *int              `json:"row_groups"`
	Bytes    int64             `json:"bytes"`
	Features int               `json:"features"`
	Scanned  bool              `json:"scanned"`           // all rows were read
	Options  map[string]string `json:"options,omitempty"` // recorded in a statistics file
	Part     *stream.Part      `json:"part,omitempty"`    // the part of a plan that the statistics cover, if any
	Table    *stream.Table     `json:"table,omitempty"`   // version of a table that the statistics are of, if they are of one
	Since    *int64            `json:"since,omitempty"`   // version since which the statistics have only the changes
	Inputs   []stream.Input    `json:"inputs"`
	Columns  []InspectedColumn `json:"columns"`
	Warnings []string          `json:"warnings"`
	Notes    []string          `json:"notes,omitempty"` // how text was read, and how missing values will be filled
}

// InspectedColumn describes a column of the input, which may be a feature or not.
type InspectedColumn struct {
	Name  string         `json:"name"`
	Type  string         `json:"type"`
	Nulls *int64         `json:"nulls"` // null if unknown
	NaNs  *int64         `json:"nan,omitempty"`
	Infs  *int64         `json:"inf,omitempty"`
	Min   *stream.Number `json:"min,omitempty"`
	Max   *stream.Number `json:"max,omitempty"`
	Used  bool           `json:"used"`          // the column is a feature
	Why   string         `json:"why,omitempty"` // reason why the column is not a feature
}

// Gathered describes the contents of a new statistics file.
type Gathered struct {
	Features int
	Inputs   int
	Rows     int64 // number of rows that the statistics cover
	RowsUsed int64
	Warnings []string
	Merged   int              // number of merged statistics files; 0 for a scan
	Outside  []string         // files that were not merged because of MergeRequest.Window, oldest first
	Transfer *stream.Transfer // bytes fetched for the inputs; nil if they are local
	Path     string           // of the statistics file, for messages
	There    bool             // the file existed already, so data were not scanned
}

// Paths is the result of Path. Either Curve or Grid is set.
type Paths struct {
	Curve *stream.Curve // the error for each number of features k
	Grid  *stream.Grid  // the selection for each setting of the method
}
