package delta

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// columnMappingKey is the name of the table property that sets the mode of column mapping.
const columnMappingKey = "delta.columnMapping.mode"

// columnMapping is the only table feature that reader version 2 has in addition to version 1.
const columnMapping = "columnMapping"

// mappingMode is the way in which the columns of a table are found in data files. Unmapped columns have their own names
// there.
type mappingMode string

const (
	unmapped     mappingMode = "none"
	mappedByName mappingMode = "name"
	mappedByID   mappingMode = "id"
)

func (s *replayState) mappingMode() mappingMode {
	mode := s.meta.Configuration[columnMappingKey]
	if v := s.protocol.MinReaderVersion; mode == "" || v < 2 || v > 2 && !slices.Contains(s.protocol.ReaderFeatures, columnMapping) {
		return unmapped
	}
	return mappingMode(strings.ToLower(mode))
}

// isSupportedFeature reports whether tables with this feature can be read. All other features of readers are refused.
// They may change the contents of data files or the location of the log (catalogManaged), or are not known yet.
func isSupportedFeature(name string) bool {
	switch name {
	case "timestampNtz", // one more type, which the data files declare themselves
		"typeWidening", "typeWidening-preview", // see Widens
		"vacuumProtocolCheck", // applies to writers that clean up
		"v2Checkpoint",
		"deletionVectors",                                                                    // see loadDeletionVectors
		"variantType", "variantType-preview", "variantShredding", "variantShredding-preview", // one more type, which is no feature
		columnMapping: // see tableSchema
		return true
	}
	return false
}

func checkProtocolIsSupported(t *table, s *replayState) error {
	errMissing := func(action string) error {
		e := stream.Dataf(t.pathForMessages(logFolder), "has no %s action, which every table begins with", action)
		e.Remedy = stream.Textf("restore the log from a copy")
		return e
	}
	p := s.protocol
	if p == nil {
		return errMissing("protocol")
	}
	// Check the protocol first: a table with a later protocol may store its metadata differently.
	var missing []string
	switch version := p.MinReaderVersion; {
	case version < 1 || version > 3:
		return errUnsupportedFeature(t, fmt.Sprintf("version %d of the Delta protocol for readers, and ufs-stream has versions 1 to 3", version))
	case version == 3:
		for _, name := range p.ReaderFeatures {
			if !isSupportedFeature(name) && !slices.Contains(missing, name) {
				missing = append(missing, name)
			}
		}
	}
	switch {
	case len(missing) == 1:
		return errUnsupportedFeature(t, "table feature "+missing[0]+", which ufs-stream does not have")
	case len(missing) > 1:
		return errUnsupportedFeature(t, "table features "+strings.Join(missing, ", ")+", which ufs-stream does not have")
	case s.meta == nil:
		return errMissing("metaData")
	}
	if mode := s.mappingMode(); mode != unmapped && mode != mappedByName && mode != mappedByID {
		return errUnsupportedFeature(t, fmt.Sprintf("column mapping of mode %q (%s), which ufs-stream does not have", mode, columnMappingKey))
	}
	if provider := s.meta.Format.Provider; provider != "" && !strings.EqualFold(provider, "parquet") {
		return errUnsupportedFeature(t, fmt.Sprintf("data files of format %q, which ufs-stream does not have", provider))
	}
	return nil
}

func errUnsupportedFeature(t *table, feature string) error {
	e := stream.Dataf(t.name, "reading this Delta table needs %s", feature)
	e.Remedy = stream.Textf("write a plain copy with CREATE TABLE … USING parquet AS SELECT * FROM %s, and read that", quoteTableNameForSQL(t.name))
	return e
}
