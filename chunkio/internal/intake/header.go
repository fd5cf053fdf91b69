package intake

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Header describes how the first rows of the CSV files of one input are read. The first file decides this for all
// files.
type Header struct {
	From  string   // name of the file that decided; empty before a file has decided
	Named bool     // the first rows contain names
	Names []string // names in that file, if Named is set
}

// OptionText returns "yes" or "no", the value of TextOptions.Header with which first rows are read in the same way. It
// is empty before a file has decided.
func (h *Header) OptionText() string {
	switch {
	case h.From == "":
		return ""
	case h.Named:
		return headerYes
	}
	return headerNo
}

func (h *Header) containsNameFrom(firstRow []string) bool {
	known := make(map[string]bool, len(h.Names))
	for _, name := range h.Names {
		known[strings.TrimSpace(name)] = true
	}
	return slices.ContainsFunc(firstRow, func(s string) bool { return s != "" && known[strings.TrimSpace(s)] })
}

// The values of TextOptions.Header.
const (
	headerAuto = "auto"
	headerYes  = "yes"
	headerNo   = "no"
)

// readFirstRow decides whether the first row contains names or data, from the option if it is given. It records the
// decision for other files.
func (r *csvReader) readFirstRow(first []string, line int64, end int, opt Options) error {
	option, settled := opt.Header, opt.Settled
	guess := judgement{isNames: true, isSure: true}
	if settled == nil || !settled.Named || !settled.containsNameFrom(first) { // else the first row repeats a known name and is not judged
		var err error
		if guess, err = r.judgeFirstRow(first, end); err != nil {
			return err
		}
	}
	named := guess.isNames
	switch {
	case option == headerYes, option == headerNo:
		named = option == headerYes
		if opt.Recorded {
			r.addHeaderDoubt(first, judgement{named, guess.isSure && guess.isNames == named})
		}
	case option != "" && option != headerAuto:
		return stream.Usagef("{header} %s: want auto, yes or no", option)
	case settled == nil || settled.From == "" || settled.From == r.name:
		r.addHeaderDoubt(first, guess)
	default:
		var err error
		if named, err = r.readLikeFirstFile(first, guess, settled); err != nil {
			return err
		}
	}
	if h := opt.Settled; h != nil && h.From == "" {
		*h = Header{From: r.name, Named: named}
		if named {
			h.Names = slices.Clone(first)
		}
	}
	if named {
		names := slices.Clone(first)
		r.advanceBytes(end)
		return r.nameColumns(names)
	}
	r.dataLine = line
	for j := range first {
		r.columns = append(r.columns, Column{Name: "c" + strconv.Itoa(j)})
	}
	r.notes = append(r.notes, stream.Textf("%s: no header, the first row is data: the columns are called c0, c1, …", r.name))
	return nil
}

// readLikeFirstFile reads the first row of a further file in the same way as in the first file.
func (r *csvReader) readLikeFirstFile(first []string, guess judgement, settled *Header) (named bool, err error) {
	alike := !guess.isNames || !guess.isSure // the first row can be data
	if settled.Named {
		alike = guess.isNames && guess.isSure || settled.containsNameFrom(first)
	}
	if alike {
		return settled.Named, nil
	}
	e := stream.Dataf(r.name, "the first row, %s, looks like names, and that of %s is data", quoteFirstFields(first), settled.From)
	if settled.Named {
		e = stream.Dataf(r.name, "the first row, %s, has none of the names in that of %s, %s", quoteFirstFields(first), settled.From, quoteFirstFields(settled.Names))
	}
	e.Remedy = stream.Textf("{header} yes takes the first row of every file as names, {header} no as data; give all files the names, or none")
	return false, e
}

func (r *csvReader) addHeaderDoubt(firstRow []string, guess judgement) {
	numbered := make([]string, len(firstRow))
	for j := range numbered {
		numbered[j] = "c" + strconv.Itoa(j)
	}
	switch {
	case guess.isSure:
	case guess.isNames:
		r.doubts = append(r.doubts, stream.Textf("%s: the first row is taken as the names of the columns, %s; if it is data, of columns %s, give {header} no", r.name, quoteFirstFields(firstRow), quoteFirstFields(numbered)))
	default:
		r.doubts = append(r.doubts, stream.Textf("%s: the first row is taken as data, of columns %s; if it has their names, %s, give {header} yes", r.name, quoteFirstFields(numbered), quoteFirstFields(firstRow)))
	}
}

func quoteFirstFields(row []string) string {
	const most, long = 3, 30
	var shown []string
	for _, s := range row[:min(len(row), most)] {
		if len(s) > long {
			s = strings.ToValidUTF8(s[:long], "") + "…"
		}
		if s == "" || strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) || c == ',' || c == ' ' }) {
			s = strconv.Quote(s)
		}
		shown = append(shown, s)
	}
	if len(row) > most {
		shown = append(shown, "…")
	}
	return strings.Join(shown, ", ")
}
