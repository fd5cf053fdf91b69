package settled

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/namelist"
)

type Ranking struct {
	*stream.Selection             // a list of names from another program has no method
	Setting           string      // the weights of one setting of a path, as "alpha=0.1,gamma=1"; otherwise empty
	Note              stream.Text // how a list of names was understood
}

// isPresent becomes true if its JSON field is present and not null.
type isPresent bool

func (p *isPresent) UnmarshalJSON([]byte) error {
	*p = true
	return nil
}

// schemaName is the name of a schema; a name that is too long to be one is not copied.
type schemaName string

func (n *schemaName) UnmarshalJSON(b []byte) error {
	if len(b) > maxSchemaBytes {
		return errors.New("no schema has so long a name")
	}
	return json.Unmarshal(b, (*string)(n))
}

const maxSchemaBytes = 100

// decodeRankings is a decoder of everything that names features: a selection, a path, and lists of other programs.
func decodeRankings(ctx context.Context, name string, text []byte, room int64) ([]Ranking, int64, error) {
	text = namelist.TrimMark(text)
	var head struct {
		Schema   schemaName `json:"schema"`
		Selected isPresent  `json:"selected"`
	}
	isObject := bytes.HasPrefix(bytes.TrimSpace(text), []byte("{"))
	if isObject && json.Unmarshal(text, &head) == nil {
		switch {
		case head.Schema == stream.GridSchema:
			g, size, err := decodeWithin(ctx, name, text, room, stream.DecodeGrid)
			if err != nil {
				return nil, 0, err
			}
			size += rankingBytes(g)
			if need := int64(len(text)) + size; room > 0 && need > room {
				return nil, 0, &stream.MemoryError{What: "reading " + name, Need: need, Limit: room}
			}
			return rankSettings(g), size, nil
		case head.Schema == stream.CurveSchema:
			c, size, err := decodeWithin(ctx, name, text, room, stream.DecodeCurve)
			if err != nil {
				return nil, 0, err
			}
			return []Ranking{{Selection: rankPoints(c)}}, size + int64(len(c.Points))*featureBytes, nil
		case head.Schema != "", !bool(head.Selected):
			return decodeSelection(ctx, name, text, room)
		}
	}
	if room > 0 {
		room = max(room-int64(len(text)), 1)
	}
	l, err := namelist.Read(ctx, name, text, room)
	if short, isShort := errors.AsType[*stream.MemoryError](err); isShort {
		short.Need, short.Limit = short.Need+int64(len(text)), short.Limit+int64(len(text))
	}
	switch {
	case err == nil:
	case ctx.Err() != nil, errors.As(err, new(*stream.MemoryError)), errors.As(err, new(*stream.DataError)):
		return nil, 0, err
	default:
		bad := stream.Dataf(name, "not a selection or list of names: %w", err)
		bad.Remedy = stream.Textf("give what select writes with {format} json, or names of features, one on each line")
		return nil, 0, bad
	}
	return []Ranking{{Selection: &stream.Selection{K: len(l.Features), Selected: l.Features}, Note: l.Note}}, l.Bytes, nil
}

var featureBytes = 3 * int64(reflect.TypeFor[stream.Selected]().Size()) // the growing list and its old parts

// rankingBytes returns the memory that rankSettings needs. A group counts each time that it is chosen.
func rankingBytes(g *stream.Grid) int64 {
	const optionBytes = 128 // an entry of a map with its value
	bytes := int64(len(g.Settings)) * (int64(reflect.TypeFor[stream.Selection]().Size()) + int64(len(g.Options)+2)*optionBytes)
	for _, s := range g.Settings {
		for _, name := range s.Selected {
			bytes += featureBytes * int64(1+len(g.Members[name]))
		}
	}
	return bytes
}

func rankSettings(g *stream.Grid) []Ranking {
	list := make([]Ranking, len(g.Settings))
	taken := make(map[string]bool)
	for i := range g.Settings {
		set := &g.Settings[i]
		s := &stream.Selection{
			Method: g.Method, K: g.K, Seed: g.Seed, Version: g.Version, Rows: g.Rows, RowsUsed: g.RowsUsed, Features: g.Features,
			Options: maps.Clone(g.Options), Inputs: g.Inputs, Converged: set.Converged,
		}
		var weights []string
		for _, w := range set.WeightTexts() {
			weights = append(weights, w[0]+"="+w[1])
			if s.Options != nil {
				s.Options[w[0]] = w[1]
			}
		}
		name := strings.Join(weights, ",")
		if name == "" || taken[name] {
			name = fmt.Sprintf("setting=%d", i+1)
		}
		taken[name] = true
		score := stream.Number(math.NaN()) // a path has no scores
		if set.DecidedByTies {
			score = 0 // equal for all
		}
		for rank, feature := range set.Selected {
			s.Selected = append(s.Selected, stream.Selected{Rank: rank + 1, Name: feature, Members: g.Members[feature], Score: score})
		}
		list[i] = Ranking{Selection: s, Setting: name}
	}
	return list
}

func rankPoints(c *stream.Curve) *stream.Selection {
	s := &stream.Selection{
		Method: c.Method, K: len(c.Points), Seed: c.Seed, Version: c.Version, Rows: c.Rows, RowsUsed: c.RowsUsed, Features: c.Features,
		Options: c.Options, Inputs: c.Inputs, Converged: true,
	}
	for _, p := range c.Points {
		s.Selected = append(s.Selected, stream.Selected{Rank: p.K, Name: p.Name, Members: p.Members, Cost: p.Cost, Score: p.Score, Error: p.Error, Least: p.Least, Layer: p.Layer})
	}
	return s
}
