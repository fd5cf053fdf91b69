package intake

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The first row of a CSV file is judged as names or as data, whichever is more probable. The score of the first row is
// the log-likelihood ratio in favour of names, in nats: the sum of the scores of its fields and of their order. A
// judgement is sure if the absolute score exceeds sureHeader. The numbers below are rough frequencies in the tables
// that users have; TestJudgeHeader lists the resulting judgements.
const sureHeader = 2

// maxJudged limits the number of columns that are judged. More columns are not needed for a judgement, and each takes
// 150 bytes.
const maxJudged = 1 << 16

// judgement is the decision whether the first row contains names.
type judgement struct {
	isNames bool
	isSure  bool
}

func (r *csvReader) judgeFirstRow(firstRow []string, firstRowEnd int) (judgement, error) {
	fields, judgedColumns := len(firstRow), min(len(firstRow), maxJudged)
	firstRow = slices.Clone(firstRow[:judgedColumns])
	goal := max(64<<10, min(8*firstRowEnd, max(sampleBytes, 2*firstRowEnd))) // a sample of wide rows must be longer
	p, err := r.peekSample(goal)
	if err != nil {
		return judgement{}, err
	}
	b := newRowsBelow(firstRow, &r.nulls)
	in := r.newRecordReader(p.data[min(firstRowEnd, len(p.data)):])
	for record, readErr := in.Read(); readErr == nil; record, readErr = in.Read() { // a later read reports the error
		if len(record) == fields {
			b.addRow(record[:judgedColumns])
		}
	}
	return b.judgeFirstRowAsNames(), nil
}

// fieldClass is the class of a field when the first row is judged.
type fieldClass uint8

const (
	absentField fieldClass = iota // missing, or hardly a name or a value, such as a question mark
	numberField
	timeField
	boolField
	wordField
	classCount
)

func fieldClassOf(s string, nulls *nullSpellings) (fieldClass, Kind) {
	if s = trimBlanks(s); nulls.isNull(s) || s == `\N` || s == "NaT" || isPunctuation(s) {
		return absentField, Unknown
	}
	switch k := kindOfField(s); {
	case k.isWhole() || k == Float:
		return numberField, k
	case k == Bool:
		return boolField, k
	case k != Text || formOfNumber(s) != "": // as a name, 12 % is as improbable as a date
		return timeField, k
	}
	return wordField, Text
}

func isPunctuation(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) })
}

// rowsBelow summarizes the rows below the first one.
type rowsBelow struct {
	first   []string // fields of the first row
	nulls   *nullSpellings
	class   []fieldClass // of the fields of the first row
	kind    []Kind
	value   []float64 // numbers in the first row
	columns []columnBelow
	// allWords is set if the first row has several fields and all of them are words.
	allWords      bool
	rows          int
	repeatingRows int // rows that contain a value twice
	risingRows    int // rows whose numbers increase or decrease from field to field
	evenRows      int // rows whose numbers increase or decrease by a constant step
}

// columnBelow summarizes the fields of one column below the first row.
type columnBelow struct {
	classCounts  [classCount]int
	whole        int
	min, max     float64
	last         float64 // last number of the column
	totalStep    float64 // sum of the absolute differences of consecutive numbers
	words        map[string]int
	shape        string
	shapesVary   bool // the words have several shapes
	repeatsFirst int  // number of fields equal to the field of the first row
}

func newRowsBelow(first []string, nulls *nullSpellings) *rowsBelow {
	b := &rowsBelow{first: first, nulls: nulls, columns: make([]columnBelow, len(first)), class: make([]fieldClass, len(first)), kind: make([]Kind, len(first)), value: make([]float64, len(first))}
	for j, s := range first {
		b.class[j], b.kind[j] = fieldClassOf(s, nulls)
		b.value[j], _ = parseFloat(trimBlanks(s))
	}
	b.allWords = len(first) > 1 && !slices.ContainsFunc(b.class, func(c fieldClass) bool { return c != wordField })
	return b
}

// addRow adds a row. A row equal to the first row comes from concatenated files and is ignored as evidence.
func (b *rowsBelow) addRow(record []string) {
	if b.allWords && slices.Equal(record, b.first) {
		return
	}
	b.rows++
	for j, s := range record {
		b.columns[j].addField(s, b.first[j], b.nulls)
	}
	if hasRepeatedValue(record, b.nulls) {
		b.repeatingRows++
	}
	if rising, even := b.followSteps(func(j int) (float64, bool) { return parseFloat(trimBlanks(record[j])) }); rising {
		b.risingRows++
		if even {
			b.evenRows++
		}
	}
}

func (c *columnBelow) addField(s, first string, nulls *nullSpellings) {
	kind, k := fieldClassOf(s, nulls)
	if kind != absentField && s == first {
		c.repeatsFirst++
	}
	switch c.classCounts[kind]++; kind {
	case numberField:
		x, _ := parseFloat(trimBlanks(s))
		if k.isWhole() {
			c.whole++
		}
		if c.classCounts[numberField] == 1 {
			c.min, c.max, c.last = x, x, x
		}
		c.totalStep += math.Abs(x - c.last)
		c.min, c.max, c.last = min(c.min, x), max(c.max, x), x
	case wordField:
		if c.words == nil {
			c.words, c.shape = map[string]int{}, shapeOf(s)
		}
		c.words[s]++
		c.shapesVary = c.shapesVary || shapeOf(s) != c.shape
	}
}

// shapeOf replaces each run of letters, and each run of digits, by one character: A001 and B23 have the same shape.
func shapeOf(s string) string {
	var b strings.Builder
	last := rune(0)
	for _, c := range s {
		switch {
		case unicode.IsLetter(c):
			c = 'a'
		case unicode.IsDigit(c):
			c = '9'
		}
		if c != last {
			b.WriteRune(c)
		}
		last = c
	}
	return b.String()
}

func hasRepeatedValue(fields []string, nulls *nullSpellings) bool {
	seen := make(map[string]bool, len(fields))
	for _, s := range fields {
		if s = trimBlanks(s); nulls.isNull(s) {
			continue
		}
		if seen[s] {
			return true
		}
		seen[s] = true
	}
	return false
}

// followSteps reports whether the numbers of a row increase or decrease from field to field (rising), and whether they
// do so by a constant step (even). It uses the columns in which the first row has numbers, of which there must be at
// least two. If there are only two numbers, their step counts as constant only if it is 1 or −1.
func (b *rowsBelow) followSteps(value func(j int) (float64, bool)) (rising, even bool) {
	n, last, step := 0, 0.0, 0.0
	even = true
	for j, c := range b.class {
		if c != numberField {
			continue
		}
		x, ok := value(j)
		switch {
		case !ok || n > 0 && x == last || n > 1 && (x > last) != (step > 0):
			return false, false
		case n == 1:
			step = x - last
		case n > 1 && math.Abs(x-last-step) > 1e-6*math.Abs(step):
			even = false
		}
		n, last = n+1, x
	}
	return n > 1, even && (n > 2 || math.Abs(step) == 1)
}

func (b *rowsBelow) judgeFirstRowAsNames() judgement {
	words, numbers := 0, 0
	for _, c := range b.class {
		switch c {
		case wordField:
			words++
		case numberField, timeField:
			numbers++
		}
	}
	if b.rows == 0 && numbers == 0 {
		return judgement{isNames: true, isSure: true}
	}
	names := 1.0
	named := [classCount]float64{wordField: 0.95, numberField: 0.1, timeField: 0.1, boolField: 0.005} // frequency of each class among names
	rising, even := b.followSteps(func(j int) (float64, bool) { return b.value[j], true })
	steps := b.stepScore(rising, even, numbers)
	if words == 0 {
		names = -1.5 + steps + b.countingScore()
		named[numberField], named[timeField] = 1, 1
	} else if steps > 1 {
		names += steps
		named[numberField] = 0.6
	}
	ofNumbers, typedColumns, inside := 0.0, 0, false
	for j, c := range b.class {
		switch score := b.columns[j].nameScore(c, b.kind[j], b.first[j], b.value[j], named[c]); c {
		case absentField:
		case numberField:
			ofNumbers += score
			inside = inside || b.value[j] >= b.columns[j].min && b.value[j] <= b.columns[j].max
		default:
			names += score
			if below := &b.columns[j]; c == wordField && below.classCounts[wordField] < below.classCounts[numberField]+below.classCounts[timeField]+below.classCounts[boolField] {
				typedColumns++
			}
			inside = inside || b.columns[j].repeatsFirst > 0
		}
	}
	if (even && numbers > 2 && 4*b.evenRows <= b.rows || rising && numbers > 4 && 4*b.risingRows <= b.rows) && b.rows > 1 {
		ofNumbers = max(ofNumbers, -1.5) // such an order is not accidental, even if each number is within the range of its column
	}
	names += ofNumbers
	share := float64(b.repeatingRows+1) / float64(b.rows+2)
	if hasRepeatedValue(b.first, b.nulls) {
		names += clampMagnitude(math.Log(0.05/share), 3)
	} else {
		names += clampMagnitude(math.Log(0.95/(1-share)), 3)
	}
	sure := math.Abs(names) > sureHeader
	if names > 0 { // if all names are numbers, the row may always be data
		if typedColumns == 0 { // if no word is above a column of values, names need more evidence
			sure = sure && names > 2*sureHeader && numbers == 0
		}
		return judgement{isNames: true, isSure: sure && words > 0}
	}
	return judgement{isSure: sure && inside && !even && typedColumns == 0}
}

// countingScore returns the score for names if the fields of the first row are 0, 1, 2, …, as pandas writes, or 1, 2,
// 3, …
func (b *rowsBelow) countingScore() float64 {
	for from, names := range []float64{2, 1} {
		counts := len(b.first) > 1+from
		for j, s := range b.first {
			counts = counts && s == strconv.Itoa(from+j)
		}
		if counts {
			return names
		}
	}
	return 0
}

// stepScore returns the score for names from the order of the numbers in the first row. Names that are numbers usually
// increase or decrease, such as years and wavelengths, whereas n numbers of a data row seldom do.
func (b *rowsBelow) stepScore(rising, even bool, n int) (names float64) {
	rows := float64(b.rows) + 2
	switch {
	case b.rows < 2 || n < 2 || n == 2 && !even:
		return 0
	case n == 2:
		return clampMagnitude(math.Log(0.3*rows/(float64(b.evenRows)+0.2)), 2)
	}
	chance := 0.002
	if n < 7 {
		chance = 2 / math.Gamma(float64(n+1))
	}
	share := (float64(b.risingRows) + 2*chance) / rows
	if !rising {
		return math.Log(0.4 / max(1-share, 0.1))
	}
	names = clampMagnitude(math.Log(0.6/share), 3)
	if even {
		names += clampMagnitude(math.Log(0.4*rows/(float64(b.evenRows)+0.02)), 3)
	}
	return names
}

// nameScore returns the score in favour of a field being the name of its column. kind is the class of the field, k the
// kind of its value, and x its value if it is a number. named is the frequency of the class among names.
func (c *columnBelow) nameScore(kind fieldClass, k Kind, field string, x, named float64) (names float64) {
	n := c.classCounts[numberField] + c.classCounts[timeField] + c.classCounts[boolField] + c.classCounts[wordField]
	names = clampMagnitude(math.Log(named*float64(n+1)/(float64(c.classCounts[kind])+0.5)), 4)
	switch {
	case kind == numberField && c.classCounts[numberField] > 0:
		return names + c.scoreNumberAsName(k, x)
	case c.repeatsFirst > 0 && kind == wordField:
		return names + clampMagnitude(math.Log(0.03*float64(c.classCounts[wordField]+2)/float64(c.classCounts[wordField]+1-c.singleWords())), 3.5)
	case kind != wordField || c.classCounts[wordField] == 0:
		return names
	}
	names += clampMagnitude(math.Log(0.98*float64(c.classCounts[wordField]+2)/float64(c.singleWords()+1)), 3)
	if !c.shapesVary && c.classCounts[wordField] > 2 && strings.Trim(c.shape, "a") != "" {
		if shapeOf(field) == c.shape {
			return names - 1.5
		}
		names += 1.5
	}
	return names
}

// singleWords returns the number of words that occur exactly once in the column. Divided by the number of words, it
// estimates the probability that the next word is new (Good and Turing).
func (c *columnBelow) singleWords() (n int) {
	for times := range maps.Values(c.words) {
		if times == 1 {
			n++
		}
	}
	return n
}

func (c *columnBelow) scoreNumberAsName(k Kind, x float64) (forNames float64) {
	n := float64(c.classCounts[numberField])
	whole := (float64(c.whole) + 0.5) / (n + 1)
	switch gap := max(c.min-x, x-c.max); {
	case gap <= 0:
		forNames = math.Log(0.25 / max((n-1)/(n+1), 0.35))
	case n > 2 && gap <= 3*c.totalStep/(n-1):
		forNames = -0.4 // x is as near to the values as consecutive values of a series are to each other
	default:
		forNames = min(math.Log(0.375*(n+1)), 2.5)
		if n > 2 && gap > 2*(c.max-c.min) {
			forNames += 0.7
		}
	}
	if k.isWhole() {
		return forNames + min(max(math.Log(0.7/whole), -0.4), 2)
	}
	return forNames + min(max(math.Log(0.3/(1-whole)), -0.4), 2)
}

func clampMagnitude(x, largestMagnitude float64) float64 {
	return max(min(x, largestMagnitude), -largestMagnitude)
}
