package gen

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sort"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/bench/internal/cli"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

// wordCountRows makes rows of word counts. The frequencies of words follow Zipf's law: the word of rank r is 1/(r+1)
// times as frequent as the word of rank 0. The class of a row is its topic. Three in ten words of a row are drawn from
// the words of its topic, and the others from all words.
//
// With T topics, topic t has the words of the ranks T·(2m+1)+t for m = 0, 1, …. So half of all words belong to a topic,
// but the T most frequent words do not. The order of the columns is random.
type wordCountRows struct {
	n            int64 // number of rows
	topics       int
	length       int // mean number of words in a row; a row has between half and one and a half times as many
	threads      int
	columns      []stream.Column
	columnOfRank []int32
	allWords     []float64 // cumulative frequencies of the ranks
	ownWords     []float64 // cumulative frequencies of a topic's words, by their number m
	rows         planted.Series
}

const (
	textRows   = 0  // number of the random series that is used for the rows
	textOrder  = 1  // number of the series that determines the order of the columns
	topicWords = 77 // number of words out of 256 that are drawn from the words of the topic
)

func newWordCountRows(n int64, columns, topics, length int, seed uint64, threads int) *wordCountRows {
	s := &wordCountRows{n: n, topics: topics, length: length, threads: threads, rows: planted.NewSeries(seed, textRows)}
	order := planted.NewSeries(seed, textOrder)
	sum := 0.0
	for r := range columns {
		s.columns = append(s.columns, stream.Column{Name: fmt.Sprintf("values[%d]", r), Type: "float"})
		s.columnOfRank = append(s.columnOfRank, int32(r))
		sum += 1 / float64(r+1)
		s.allWords = append(s.allWords, sum)
		if s.rankOfWord(topics-1, r) < columns {
			s.ownWords = append(s.ownWords, sum)
		}
	}
	for i := columns - 1; i > 0; i-- {
		j := order.Bits(int64(i)) % uint64(i+1)
		s.columnOfRank[i], s.columnOfRank[j] = s.columnOfRank[j], s.columnOfRank[i]
	}
	return s
}

func (s *wordCountRows) rankOfWord(topic, m int) int { return s.topics*(2*m+1) + topic }

func (s *wordCountRows) classOfRow(row int64) int { return int(s.rows.Bits(row) % uint64(s.topics)) }

// appendWords appends the columns of the words of a row, ascending. A repeated word occurs several times.
func (s *wordCountRows) appendWords(row int64, words []int32) []int32 {
	topic, series := s.classOfRow(row), planted.Series(s.rows.Bits(row))
	from := len(words)
	length := max(1, s.length/2+int(series.Bits(0)%uint64(s.length+1)))
	for i := range length {
		bits := series.Bits(int64(i) + 1)
		u := float64(bits&(1<<53-1)) / (1 << 53)
		var rank int
		if bits>>56 < topicWords {
			rank = s.rankOfWord(topic, drawRank(s.ownWords, u))
		} else {
			rank = drawRank(s.allWords, u)
		}
		words = append(words, s.columnOfRank[rank])
	}
	slices.Sort(words[from:])
	return words
}

func drawRank(cumulated []float64, u float64) int {
	last := len(cumulated) - 1
	x := u * cumulated[last]
	return min(sort.Search(last, func(i int) bool { return cumulated[i] > x }), last)
}

func (s *wordCountRows) countWords(from, to int64) *stream.CSR {
	c := &stream.CSR{RowPtr: []int{0}}
	var words []int32
	for row := from; row < to; row++ {
		words = s.appendWords(row, words[:0])
		for i, w := range words {
			if i == 0 || w != words[i-1] {
				c.Index = append(c.Index, w)
				c.Value = append(c.Value, 0)
			}
			c.Value[len(c.Value)-1]++
		}
		c.RowPtr = append(c.RowPtr, len(c.Index))
	}
	return c
}

// Columns implements stream.Source. The names are values[0], values[1], …, as chunkio names the items of a list.
func (s *wordCountRows) Columns() []stream.Column { return s.columns }

func (s *wordCountRows) Rows() int64 { return s.n }

func (s *wordCountRows) Cuts() []int64 { return []int64{0, s.n} }

// textBlock is the number of rows in a block. A block needs 2 MB if a row has 100 words.
const textBlock = 2048

// Chunks implements stream.Source. The range r may begin and end at any row. Every thread makes one block at a time.
func (s *wordCountRows) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	if r.All() {
		r.To = s.n
	}
	workers := s.threads
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return func(yield func(*stream.Chunk, error) bool) {
		blocks := make([]*stream.CSR, workers)
		for from := r.From; from < r.To; from += int64(workers) * textBlock {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			start := func(i int) int64 { return min(from+int64(i)*textBlock, r.To) }
			kernel.Each(workers, workers, func(i int) { blocks[i] = s.countWords(start(i), start(i+1)) })
			for i, b := range blocks {
				n := len(b.RowPtr) - 1
				if n > 0 && !yield(&stream.Chunk{Start: start(i), Block: n, Rows: n, Cols: len(s.columns), Sparse: b}, nil) {
					return
				}
			}
		}
	}
}

// sparseAnswer lists the words of each topic, the most frequent first.
type sparseAnswer struct {
	answer
	Read   string     `json:"sparse"` // value of the flag --sparse with which ufs-stream reads the table
	Topics [][]string `json:"topics"`
}

func (s *wordCountRows) describeTopics(o options) sparseAnswer {
	a := sparseAnswer{answer: o.makeCommonAnswer("sparse", len(s.columns), s.topics), Read: fmt.Sprintf("indices,values,%d", len(s.columns))}
	for t := range s.topics {
		var words []string
		for m := range s.ownWords {
			words = append(words, s.columns[s.columnOfRank[s.rankOfWord(t, m)]].Name)
		}
		a.Topics = append(a.Topics, words)
	}
	return a
}

func sparseCommand(c *cli.Shared) *cobra.Command {
	var o options
	var columns, classes, words int
	types := []string{"float", "double"}
	cmd := &cobra.Command{
		Use:   "sparse -o FILE.parquet",
		Short: "Word counts of texts on a few topics, as lists of indices and values",
		Long: `Make rows of word counts with Zipf's frequencies, topics as classes, as two columns of
lists, indices and values. Read them with --sparse indices,values,D, where D is --columns.`,
		Args: program.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.checkFlags(types...); err != nil {
				return err
			}
			switch {
			case classes < 2 || classes > 1000:
				return stream.Usagef("--classes %d: want between 2 and 1000", classes)
			case columns < 4*classes || columns > 1<<20:
				return stream.Usagef("--columns %d: want between %d, 4 a class, and %d", columns, 4*classes, 1<<20)
			case words < 1 || words > 1<<20:
				return stream.Usagef("--words %d: want between 1 and %d", words, 1<<20)
			}
			s := newWordCountRows(o.rows, columns, classes, words, o.seed, o.threads)
			w := chunkio.WriteOptions{
				Type: o.typ, Sparse: true,
				LabelName: LabelName, Label: func(row int64) int32 { return int32(s.classOfRow(row)) },
			}
			return generateTable(cmd.Context(), c, o, s, w, s.describeTopics(o))
		},
	}
	o.addFlags(cmd.Flags(), types...)
	fs := cmd.Flags()
	fs.IntVar(&columns, "columns", 5000, "words in all")
	fs.IntVar(&classes, "classes", 10, "topics")
	fs.IntVar(&words, "words", 100, "mean number of words in a row")
	return cmd
}
