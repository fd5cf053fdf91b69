package writing

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// NPYHeader implements chunkio.NPYHeader: it returns the header of a NumPy array of float64 in rows, of version 1.0. Its
// length is a multiple of 64.
func NPYHeader(rows, columns int) []byte {
	const magic, sizeBytes, alignment = "\x93NUMPY\x01\x00", 2, 64
	text := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", rows, columns)
	used := len(magic) + sizeBytes + len(text) + 1
	text += strings.Repeat(" ", (alignment-used%alignment)%alignment) + "\n"
	return append(binary.LittleEndian.AppendUint16([]byte(magic), uint16(len(text))), text...)
}
