package planfile

import "github.com/ufs-stream/ufs-stream/stream"

// Schema is the value of Header.Schema in every plan file.
const Schema = "ufs-stream/plan/v1"

// Ending ends the names of plan files.
const Ending = ".plan.json"

// Header describes a plan and all its files together.
type Header struct {
	Schema  string `json:"schema"` // set by Write, like ID
	ID      string `json:"id"`     // digest of the rest of the plan
	Version string `json:"version,omitempty"`
	// Method and Options shape statistics, as a selection records them.
	Method  string            `json:"method,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Table   *stream.Table     `json:"table,omitempty"` // the files' table; nil for bare files
	// Keys are the partition keys of a table whose log has their values (File.Keys), in a plan without footers;
	// if it is empty, only the paths may have keys. With footers Catalog.Partitions names them.
	Keys []string `json:"keys,omitempty"`
	// Roots are places that together contain the files, as the maker of the plan opened them. They show a
	// reader which places the maker meant: see place.Scope.
	Roots   []string `json:"roots,omitempty"`
	Count   int      `json:"count"` // of files
	Rows    int64    `json:"rows"`  // in all; 0 without footers
	Bytes   int64    `json:"bytes"` // of the files
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
	Orders     [][]int32   `json:"orders,omitempty"` // of columns, in files that deviate: see File.Order
	Kinds      []Kind      `json:"kinds,omitempty"`  // of the partition keys in the condition
	Texts      []string    `json:"texts,omitempty"`  // columns of CSV and NDJSON with digits that are text, because some file has identifiers there
	Maps       []string    `json:"maps,omitempty"`   // objects of NDJSON that are maps
	First      string      `json:"first"`            // the first file, as people may see it
	OpenBytes  int64       `json:"open_bytes"`       // largest memory of one open file
	Far        bool        `json:"far,omitempty"`    // some file is in an object store
}

// Leaf is a physical column of the files, with the facts of all of them.
type Leaf struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Why         string `json:"why,omitempty"`
	Refused     bool   `json:"refused,omitempty"`
	RefusedBy   string `json:"refused_by,omitempty"` // the first file that refuses it
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
	Entries     string `json:"entries,omitempty"` // of a map
	NoEntries   string `json:"no_entries,omitempty"`
	Before      int    `json:"before,omitempty"` // number of columns right before it that are no leaves; After: right after it
	After       int    `json:"after,omitempty"`
	Index       bool   `json:"index,omitempty"` // of a data frame
	TextKeys    bool   `json:"text_keys,omitempty"`
}

// Partition is a column with its values in File.Keys. They do not come from the paths, which are absolute in a
// plan: folders above the one where it was made may look like keys, too.
type Partition struct {
	Key   string `json:"key"`
	Why   string `json:"why,omitempty"`   // why it is no feature
	Truth bool   `json:"truth,omitempty"` // its values are true and false

	Before int `json:"before,omitempty"` // the column that follows it, counted from 1; 0 if it comes last
}

// Kind is a partition key in the condition, and the type of its values in comparisons: number, truth or text.
type Kind struct {
	Key  string `json:"key"`
	Kind string `json:"kind"`
}

// File is one file of a plan.
type File struct {
	Path  string `json:"path"`  // absolute, or a URL without the parameters of its store
	Bytes int64  `json:"bytes"` // 0 if unknown, without footers
	// Version is the ETag or generation of an object; empty for a local file.
	Version string `json:"version,omitempty"`
	// Keys are the values of Catalog.Partitions, or without footers of Header.Keys; __HIVE_DEFAULT_PARTITION__
	// is a null.
	Keys []string `json:"keys,omitempty"`

	// The following fields come from the file's footer. They are empty without footers.
	Start       int64      `json:"start,omitempty"`       // global position of its first row
	Footer      string     `json:"footer,omitempty"`      // digest of the footer, 16 hexadecimal digits
	Fingerprint string     `json:"fingerprint,omitempty"` // see stream.Input
	Groups      [][2]int64 `json:"groups,omitempty"`      // rows and weight (bytes to read) of each row group
	Order       int        `json:"order,omitempty"`       // 1-based, into Catalog.Orders; 0: the order of Catalog.Leaves
	Outcomes    string     `json:"outcomes,omitempty"`    // of the condition, a digit for each row group
	Whole       bool       `json:"whole,omitempty"`       // opening reads the whole file, although its name does not show that
}

// Rows returns the number of rows in the file, from its footer.
func (f *File) Rows() (n int64) {
	for _, g := range f.Groups {
		n += g[0]
	}
	return n
}
