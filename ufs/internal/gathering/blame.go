package gathering

import (
	"errors"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// BlameStats does the work of BlameStatsFile for the statistics file of q, if there is one.
func BlameStats(q *request.Request, err error) error {
	if q.Stats == "" {
		return err
	}
	return BlameStatsFile(q.Stats, err)
}

// BlameStatsFile adds the path of the statistics file to an error that does not name a file. Such an error arises, for
// example, if numbers in the file were forged, and a solver fails because its matrix cannot come from rows.
func BlameStatsFile(path string, err error) error {
	var unplaced *stream.DataError
	hasPlace := !errors.As(err, &unplaced) || unplaced.Path != ""
	if err == nil || statistics.IsSelfExplanatory(err) && hasPlace {
		return err
	}
	e := stream.Dataf(place.DisplayName(path), "its numbers do not belong together: %w", err)
	e.Remedy = stream.Textf("remove it, and scan or merge again; if that makes the same file, please report it")
	return e
}
