package delta

import (
	"encoding/json"
	"fmt"
)

// action is one line of a commit or of a JSON checkpoint, reduced to the fields that determine the live files, i.e. the
// files that a version contains. Fields and actions that are not known are skipped, as the protocol requires.
type action struct {
	Add                *fileAction
	Remove             *fileAction
	MetaData           *metaData
	Protocol           *protocol
	Sidecar            *sidecar
	CheckpointMetadata *checkpointMetadata
}

// fileAction adds a data file to the table, or removes it.
type fileAction struct {
	Path            *string
	PartitionValues map[string]*string
	Size            *int64
	DataChange      *bool           // false if the action moves rows to other files, and changes none
	Stats           json.RawMessage // a JSON document, encoded as a JSON string
	DeletionVector  *deletionVector
}

// deletionVector locates the set of the deleted rows of a data file.
type deletionVector struct {
	StorageType    string
	PathOrInlineDv string
	Offset         *int64
	SizeInBytes    int64
	Cardinality    int64 // number of deleted rows

	bitmap []byte // see File.DeletedRows; set by loadDeletionVectors
}

// uniqueID identifies the deletion vector among the vectors of one file. It returns "" if d is nil.
func (d *deletionVector) uniqueID() string {
	switch {
	case d == nil:
		return ""
	case d.Offset == nil:
		return d.StorageType + d.PathOrInlineDv
	}
	return fmt.Sprintf("%s%s@%d", d.StorageType, d.PathOrInlineDv, *d.Offset)
}

// metaData contains the schema of the table and its properties.
type metaData struct {
	ID               string
	Format           struct{ Provider string }
	SchemaString     string // a JSON document
	PartitionColumns []string
	Configuration    map[string]string
}

// protocol contains the features that a reader of the table must support.
type protocol struct {
	MinReaderVersion int64
	ReaderFeatures   []string
}

// sidecar names a further file with actions of a checkpoint.
type sidecar struct {
	Path        string
	SizeInBytes int64
}

// checkpointMetadata contains the version of the table that a checkpoint describes.
type checkpointMetadata struct{ Version *int64 }
