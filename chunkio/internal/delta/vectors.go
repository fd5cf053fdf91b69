package delta

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/remaining"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Vectors of a file whose distance is at most maxVectorGap bytes are read together, as long as they have at most
// maxVectorRun bytes. Up to vectorFilesAtOnce files are read at once, because each takes two requests to a store.
const (
	maxVectorGap      = 64 << 10
	maxVectorRun      = 4 << 20
	vectorFilesAtOnce = 16
)

// Formats of deletion vectors in PROTOCOL.md: the first byte of a file of vectors, and the number before each bitmap.
const (
	vectorFileVersion = 1
	vectorMagic       = 1681511377
)

func loadDeletionVectors(ctx context.Context, t *table, files []File) error {
	byPlace := map[string][]*File{}
	for i := range files {
		v := files[i].vector
		if v == nil {
			continue
		}
		const copies = 2 // the bytes as they are read, and as they are kept
		if v.SizeInBytes < 0 || v.SizeInBytes > maxVectorBytes || v.Cardinality < 0 || v.startInFile() < 0 || v.startInFile() > maxVectorStart {
			return errDamagedVector(t, &files[i], errors.New("its size, offset or number of rows is none"))
		}
		if err := t.budget.reserveBytes(copies*v.SizeInBytes, t.name); err != nil {
			return err
		}
		if v.StorageType == "i" {
			data, err := decodeZ85(v.PathOrInlineDv)
			if err == nil && int64(len(data)) < v.SizeInBytes {
				err = fmt.Errorf("it has %d bytes, and claims %d", len(data), v.SizeInBytes)
			}
			if err == nil {
				err = setDeletedRows(&files[i], data[:v.SizeInBytes])
			}
			if err != nil {
				return errDamagedVector(t, &files[i], err)
			}
			continue
		}
		place, err := locateVector(v)
		if err != nil {
			return errDamagedVector(t, &files[i], err)
		}
		byPlace[place] = append(byPlace[place], &files[i])
	}
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(vectorFilesAtOnce)
	for _, place := range slices.Sorted(maps.Keys(byPlace)) {
		reading.Go(func() error { return readVectorFile(ctx, t, place, byPlace[place]) })
	}
	return reading.Wait()
}

// maxVectorBytes bounds the size of a vector, which the protocol stores as an int of 32 bits. maxVectorStart bounds its
// position, so that sums do not overflow.
const (
	maxVectorBytes = 1<<31 - 1
	maxVectorStart = 1 << 60
)

func locateVector(v *deletionVector) (string, error) {
	switch v.StorageType {
	case "p":
		path, _, err := parsePath(v.PathOrInlineDv)
		if err == nil && !IsAbsolute(path) {
			err = fmt.Errorf("its path %q is not absolute", v.PathOrInlineDv)
		}
		return path, err
	case "u":
		const encoded = 20 // characters of a UUID
		split := len(v.PathOrInlineDv) - encoded
		if split < 0 {
			return "", fmt.Errorf("%q contains no UUID", v.PathOrInlineDv)
		}
		prefix := v.PathOrInlineDv[:split]
		id, err := decodeZ85(v.PathOrInlineDv[split:])
		if err != nil {
			return "", err
		}
		name := fmt.Sprintf("deletion_vector_%x-%x-%x-%x-%x.bin", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
		if prefix == "" {
			return name, nil
		}
		if prefix == "." || prefix == ".." || strings.ContainsAny(prefix, "/\\\x00") {
			return "", fmt.Errorf("its prefix %q is no name of a folder", prefix)
		}
		return prefix + "/" + name, nil
	}
	return "", fmt.Errorf("it is stored in the way %q, and the protocol knows i, p and u", v.StorageType)
}

func errDamagedVector(t *table, f *File, err error) error {
	place := f.Path
	if !IsAbsolute(place) {
		place = t.pathForMessages(place)
	}
	e := stream.Dataf(place, "the deletion vector that the log gives it cannot be read: %w", err)
	e.Remedy = stream.Textf("restore the log and the vector from a copy, or set {version} to one before it")
	return e
}

func readVectorFile(ctx context.Context, t *table, place string, files []*File) error {
	in, err := t.folder.Open(ctx, place)
	if err != nil {
		return t.errUnreadableFile(place, err)
	}
	defer in.Close()
	slices.SortFunc(files, func(a, b *File) int { return cmp.Compare(a.vector.startInFile(), b.vector.startInFile()) })
	for len(files) > 0 {
		n, from, to := 0, files[0].vector.startInFile(), int64(0)
		for ; n < len(files); n++ {
			v := files[n].vector
			if v.endInFile() > in.Size() {
				return errDamagedVector(t, files[n], fmt.Errorf("it ends at byte %d of a file of %d bytes", v.endInFile(), in.Size()))
			}
			if n > 0 && (v.startInFile()-to > maxVectorGap || v.endInFile()-from > maxVectorRun) {
				break
			}
			to = max(to, v.endInFile())
		}
		if from <= maxVectorGap { // check the version, too
			from = 0
		}
		run := make([]byte, to-from)
		if err := format.ReadAt(in, run, from); err != nil {
			return t.errUnreadableFile(place, err)
		}
		if from == 0 && run[0] != vectorFileVersion {
			return errDamagedVector(t, files[0], fmt.Errorf("its file has version %d, and ufs-stream reads version %d", run[0], vectorFileVersion))
		}
		for _, f := range files[:n] {
			if err := setDeletedRowsFromFile(f, run[f.vector.startInFile()-from:f.vector.endInFile()-from]); err != nil {
				return errDamagedVector(t, f, err)
			}
		}
		files = files[n:]
	}
	return nil
}

func (d *deletionVector) startInFile() int64 {
	if d.Offset == nil {
		return 0
	}
	return *d.Offset
}

func (d *deletionVector) endInFile() int64 { return d.startInFile() + d.SizeInBytes + 2*crc32.Size }

// setDeletedRowsFromFile sets the deleted rows of f from the bytes of its vector in a file: size, data and checksum.
func setDeletedRowsFromFile(f *File, b []byte) error {
	size, data, sum := binary.BigEndian.Uint32(b), b[4:len(b)-crc32.Size], binary.BigEndian.Uint32(b[len(b)-crc32.Size:])
	switch {
	case int(size) != len(data):
		return fmt.Errorf("it has %d bytes, and the log says %d", size, len(data))
	case crc32.ChecksumIEEE(data) != sum:
		return errors.New("its checksum is wrong")
	}
	return setDeletedRows(f, data)
}

func setDeletedRows(f *File, data []byte) error {
	if len(data) < 4 || binary.LittleEndian.Uint32(data) != vectorMagic {
		return errors.New("it is no bitmap of the format that the protocol has")
	}
	rows, err := remaining.ParseBitmap(data[4:])
	if err != nil {
		return err
	}
	if n := rows.Rows(); n != f.vector.Cardinality {
		return fmt.Errorf("it deletes %d rows, and the log says %d", n, f.vector.Cardinality)
	}
	if rows.Rows() > 0 {
		f.vector.bitmap = bytes.Clone(data[4:])
	}
	return nil
}

// decodeZ85 decodes text in the form of https://rfc.zeromq.org/spec/32/.
func decodeZ85(text string) ([]byte, error) {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
	if len(text)%5 != 0 {
		return nil, fmt.Errorf("%d characters are no text in Z85", len(text))
	}
	data := make([]byte, 0, len(text)/5*4)
	for ; text != ""; text = text[5:] {
		word := uint64(0)
		for _, c := range []byte(text[:5]) {
			d := strings.IndexByte(digits, c)
			if d < 0 {
				return nil, fmt.Errorf("%q is no character of Z85", c)
			}
			word = 85*word + uint64(d)
		}
		if word > 1<<32-1 {
			return nil, fmt.Errorf("%q is no number of 32 bits in Z85", text[:5])
		}
		data = binary.BigEndian.AppendUint32(data, uint32(word))
	}
	return data, nil
}
