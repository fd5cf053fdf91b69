package planfile

import (
	"encoding/json"

	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Schema is the value of Header.Schema in every plan file.
const Schema = "ufs-stream/plan/v1"

// Ending ends the names of plan files.
const Ending = ".plan.json"

// Header describes a plan and all its files together.
type Header struct {
	Schema  string `json:"schema"` // set by Write, like ID
	ID      string `json:"id"`     // digest of the rest of the plan
	Version string `json:"version,omitempty"`
	// Method and Options are the settings that determine the job's statistics, in the form in which a selection records
	// them.
	Method  string            `json:"method,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Table   *stream.Table     `json:"table,omitempty"` // the table that consists of the files; nil if there is none
	// Since means that the files have the rows that Table has gained since this version and, if File.Lost is set, lost. It
	// goes without footers.
	Since *int64 `json:"since,omitempty"`
	// Keys are the names of a table's partition keys, in a plan without footers, if the table's log contains the values of
	// the keys (see File.Keys). If Keys is empty, only the paths of the files may contain keys. In a plan with footers,
	// Catalog.Partitions names the keys instead.
	Keys []string `json:"keys,omitempty"`
	// Columns is the schema of the table, if the files must be read by it: see columns.Schema. If it is empty, the files are
	// read as they are.
	Columns []columns.Column `json:"columns,omitempty"`
	// Roots are places that together contain the files, as the maker of the plan opened them. They show a reader of the
	// plan which places the maker meant: see place.Scope.
	Roots   []string `json:"roots,omitempty"`
	Count   int      `json:"count"` // number of files
	Rows    int64    `json:"rows"`  // number of rows in all files; 0 without footers
	Bytes   int64    `json:"bytes"` // size of all files
	Footers bool     `json:"footers"`
	// Weight is the sum of the weights in File.Groups.
	Weight   int64    `json:"weight,omitempty"`
	Catalog  *Catalog `json:"catalog,omitempty"` // nil without footers
	Warnings []string `json:"warnings,omitempty"`
}

// Catalog combines the footers of all files. Package chunkio writes and reads it.
type Catalog struct {
	Leaves     []Leaf      `json:"leaves"`
	Partitions []Partition `json:"partitions,omitempty"`
	Orders     [][]int32   `json:"orders,omitempty"` // orders of columns that differ from Leaves: see File.Order
	Kinds      []Kind      `json:"kinds,omitempty"`  // types of the partition keys that the condition on rows uses
	Texts      []string    `json:"texts,omitempty"`  // columns of CSV and NDJSON read as text: identifiers in at least one file
	Maps       []string    `json:"maps,omitempty"`   // columns of NDJSON whose objects are maps
	First      string      `json:"first"`            // display name of the first file
	OpenBytes  int64       `json:"open_bytes"`       // largest memory that one open file needs, in bytes
	Far        bool        `json:"far,omitempty"`    // at least one file is in an object store
}

// Leaf is a physical column of the files, with its properties by the footers of all files.
type Leaf struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Why         string `json:"why,omitempty"`
	Refused     bool   `json:"refused,omitempty"`
	RefusedBy   string `json:"refused_by,omitempty"` // the first file whose column cannot be used
	Width       int    `json:"width,omitempty"`
	List        bool   `json:"list,omitempty"`
	Nulls       int64  `json:"nulls,omitempty"`
	MaybeNaN    bool   `json:"maybe_nan,omitempty"`
	NoClass     string `json:"no_class,omitempty"`
	Scratch     int64  `json:"scratch,omitempty"`
	TextScratch int64  `json:"text_scratch,omitempty"`
	PerSecond   int64  `json:"per_second,omitempty"`
	UTC         bool   `json:"utc,omitempty"`
	Packed      int64  `json:"packed,omitempty"`
	PerRow      int64  `json:"per_row,omitempty"`
	Entries     string `json:"entries,omitempty"` // type of the entries, if the column is a map
	NoEntries   string `json:"no_entries,omitempty"`
	Before      int    `json:"before,omitempty"` // number of columns right before it that are not leaves; After: right after it
	After       int    `json:"after,omitempty"`
	Index       bool   `json:"index,omitempty"` // the column is the index of a data frame
	TextKeys    bool   `json:"text_keys,omitempty"`

	Keys   []string `json:"keys,omitempty"`   // names of the features, if the column is a map
	Asides []string `json:"asides,omitempty"` // why each of them is used only if its name is asked for, or empty
}

// Partition is a column whose values are in File.Keys. The values do not come from the paths in the plan: these are
// absolute, so folders above the table may look like keys too.
type Partition struct {
	Key   string `json:"key"`
	Why   string `json:"why,omitempty"`   // why it is not a feature
	Truth bool   `json:"truth,omitempty"` // its values are true and false

	Before int `json:"before,omitempty"` // number of the leaf that follows it, from 1; 0 if no leaf follows
}

// Kind is a partition key in the condition on rows, and the type of its values in comparisons: number, truth, text, date, time
// (in UTC) or local time.
type Kind struct {
	Key  string `json:"key"`
	Kind string `json:"kind"`
}

// File is one file of a plan.
type File struct {
	Path  string `json:"path"`  // absolute path, or a URL without the parameters of its store
	Bytes int64  `json:"bytes"` // 0 if it is unknown, in a plan without footers
	// Version is the ETag or generation of an object; empty for a local file.
	Version string `json:"version,omitempty"`
	// Keys are the values of Catalog.Partitions or, without footers, of Header.Keys. __HIVE_DEFAULT_PARTITION__
	// represents a null.
	Keys []string `json:"keys,omitempty"`
	// Deleted is the set of the file's rows that its table has deleted: a Roaring bitmap of their positions in the file,
	// in the portable 64-bit format.
	Deleted []byte `json:"deleted,omitempty"`
	Lost    bool   `json:"lost,omitempty"` // the remaining rows are lost since Header.Since; the file may be named again for gained rows
	// Constants are the values of columns that the file lacks, if they are not the defaults in Header.Columns: see
	// columns.Constants.
	Constants json.RawMessage `json:"constants,omitempty"`

	// The following fields come from the file's footer. They are empty without footers.
	Start       int64      `json:"start,omitempty"`       // global position of its first row
	Footer      string     `json:"footer,omitempty"`      // digest of the footer, 16 hexadecimal digits
	Fingerprint string     `json:"fingerprint,omitempty"` // see stream.Input
	Groups      [][2]int64 `json:"groups,omitempty"`      // rows and weight (bytes to read) of each row group
	Order       int        `json:"order,omitempty"`       // index in Catalog.Orders, from 1; 0 means the order of Catalog.Leaves
	Outcomes    string     `json:"outcomes,omitempty"`    // of the condition on rows: a digit for each row group
	Whole       bool       `json:"whole,omitempty"`       // opening the file reads all of it, although its name does not show this
}

// Rows returns the number of rows in the file, from its footer.
func (f *File) Rows() (n int64) {
	for _, g := range f.Groups {
		n += g[0]
	}
	return n
}
