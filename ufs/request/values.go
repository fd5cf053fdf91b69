package request

import (
	"errors"
	"strconv"

	"github.com/ufs-stream/ufs-stream/stream"
)

// The texts of options whose types do not determine them: {k} sets Choice.K and Choice.AutoK, {stability} has a name
// for AnyShards, and {version} may be open.

func formatFeatureCount(q *Request) string {
	if q.Choice.AutoK {
		return "auto"
	}
	return strconv.Itoa(q.Choice.K)
}

func parseFeatureCount(q *Request, text string) error {
	k, err := strconv.Atoi(text)
	if err != nil && text != "auto" {
		return errors.New("want a whole number, or auto")
	}
	q.Choice.K, q.Choice.AutoK = k, text == "auto"
	return nil
}

const anyShardsText = "auto"

func formatShardCount(q *Request) string {
	switch q.Choice.Stability {
	case 0:
		return ""
	case AnyShards:
		return anyShardsText
	}
	return strconv.Itoa(q.Choice.Stability)
}

func parseShardCount(q *Request, text string) error {
	if text == anyShardsText {
		q.Choice.Stability = AnyShards
		return nil
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 1 {
		return stream.Errorf("want an even number from 4 to 32, as {stability}=8")
	}
	q.Choice.Stability = count
	return nil
}

func formatTableVersion(q *Request) string {
	if q.Input.Version == nil {
		return ""
	}
	return strconv.FormatInt(*q.Input.Version, 10)
}

func parseTableVersion(q *Request, text string) error {
	version, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		return errors.New("want a whole number")
	}
	q.Input.Version = &version
	return nil
}
