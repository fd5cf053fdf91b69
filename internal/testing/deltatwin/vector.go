package deltatwin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
)

// vectorDescriptor locates the deletion vector of a data file.
type vectorDescriptor struct {
	StorageType    string
	PathOrInlineDv string
	Offset         *int64
	SizeInBytes    int64
	Cardinality    int64
}

func readVector(dir string, d *vectorDescriptor) (map[int64]bool, error) {
	var data []byte
	var err error
	if d.StorageType == "i" {
		data, err = decodeZ85(d.PathOrInlineDv)
		data = data[:min(int(d.SizeInBytes), len(data))] // the encoding pads to four bytes
	} else {
		data, err = readVectorFile(dir, d)
	}
	if err != nil {
		return nil, err
	}
	rows, err := parseVector(data)
	if err == nil && int64(len(rows)) != d.Cardinality {
		err = fmt.Errorf("%d rows, and the log states %d", len(rows), d.Cardinality)
	}
	return rows, err
}

func readVectorFile(dir string, d *vectorDescriptor) ([]byte, error) {
	var path string
	var err error
	switch d.StorageType {
	case "p":
		path, err = locateFile(dir, d.PathOrInlineDv)
	case "u":
		split := len(d.PathOrInlineDv) - 20
		var id []byte
		if id, err = decodeZ85(d.PathOrInlineDv[split:]); err == nil {
			name := fmt.Sprintf("deletion_vector_%x-%x-%x-%x-%x.bin", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
			path = filepath.Join(dir, d.PathOrInlineDv[:split], name)
		}
	default:
		err = fmt.Errorf("storage type %q", d.StorageType)
	}
	if err != nil {
		return nil, err
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	at := int64(0)
	if d.Offset != nil {
		at = *d.Offset
	}
	size := int64(binary.BigEndian.Uint32(whole[at:]))
	data := whole[at+4 : at+4+size]
	if size != d.SizeInBytes || whole[0] != 1 || binary.BigEndian.Uint32(whole[at+4+size:]) != crc32.ChecksumIEEE(data) {
		return nil, errors.New("its version, size or checksum differs")
	}
	return data, nil
}

func decodeZ85(text string) (data []byte, err error) {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
	for i := 0; i < len(text); i += 5 {
		word := uint32(0)
		for j := i; j < i+5; j++ {
			if j >= len(text) || strings.IndexByte(digits, text[j]) < 0 {
				return nil, fmt.Errorf("%q is no Z85", text)
			}
			word = word*85 + uint32(strings.IndexByte(digits, text[j])) //nolint:gosec // an index below 85
		}
		data = binary.BigEndian.AppendUint32(data, word)
	}
	return data, nil
}

// vectorReader takes little-endian numbers from the front of a vector.
type vectorReader struct{ rest []byte }

func (r *vectorReader) take16() int64 {
	n := binary.LittleEndian.Uint16(r.rest)
	r.rest = r.rest[2:]
	return int64(n)
}

func (r *vectorReader) take32() int64 {
	n := binary.LittleEndian.Uint32(r.rest)
	r.rest = r.rest[4:]
	return int64(n)
}

func parseVector(data []byte) (map[int64]bool, error) {
	r := &vectorReader{data}
	if r.take32() != 1681511377 {
		return nil, errors.New("the magic number differs")
	}
	rows := map[int64]bool{}
	buckets := binary.LittleEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	for range buckets {
		high := r.take32() << 32
		if err := parseBucket(r, high, rows); err != nil {
			return nil, err
		}
	}
	if len(r.rest) > 0 {
		return nil, fmt.Errorf("%d bytes follow it", len(r.rest))
	}
	return rows, nil
}

func parseBucket(r *vectorReader, high int64, rows map[int64]bool) error {
	const withoutRuns, withRuns, fewest = 12346, 12347, 4
	cookie := r.take32()
	var size int64
	var runs []byte // a bit for each container, set for one of runs
	switch {
	case cookie == withoutRuns:
		size = r.take32()
	case cookie&0xffff == withRuns:
		size = cookie>>16 + 1
		runs, r.rest = r.rest[:(size+7)/8], r.rest[(size+7)/8:]
	default:
		return fmt.Errorf("cookie %d", cookie)
	}
	keys, counts := make([]int64, size), make([]int64, size)
	for i := range keys {
		keys[i], counts[i] = r.take16(), r.take16()+1
	}
	if runs == nil || size >= fewest {
		r.rest = r.rest[4*size:] // the offsets of the containers, which follow each other
	}
	for i, key := range keys {
		base := high | key<<16
		switch {
		case runs != nil && runs[i/8]>>(i%8)&1 == 1:
			for range r.take16() {
				first, more := r.take16(), r.take16()
				for n := first; n <= first+more; n++ {
					rows[base|n] = true
				}
			}
		case counts[i] > 4096:
			for n := range int64(1 << 16) {
				if r.rest[n/8]>>(n%8)&1 == 1 {
					rows[base|n] = true
				}
			}
			r.rest = r.rest[1<<13:]
		default:
			for range counts[i] {
				rows[base|r.take16()] = true
			}
		}
	}
	return nil
}
