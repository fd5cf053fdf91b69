package thrift

import (
	"bytes"
	"errors"
	"testing"
)

func TestValidateStruct(t *testing.T) {
	good := []byte{
		0x15, 0x54, // 1: i32
		0x19, 0x35, 0x02, 0x04, 0x06, // 2: list of 3 i32
		0x11,                         // 3: true
		0x17, 1, 2, 3, 4, 5, 6, 7, 8, // 4: double
		0x18, 0x03, 'a', 'b', 'c', // 5: binary
		0x1B, 0x01, 0x85, 0x01, 'k', 0x02, // 6: map of binary to i32
		0x1C, 0x12, 0x00, // 7: struct{1: false}
		0x03, 0x28, 0x07, // 20, long form: byte
		0x19, 0x21, 0x01, 0x02, // 21: list of 2 booleans
		0x1D, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, // 22: uuid
		0x00,
	}
	if n, err := validateStruct(append(good, 0xFF)); err != nil || n != len(good) {
		t.Fatalf("length %d of %d, %v", n, len(good), err)
	}
	for n := range good {
		if _, err := validateStruct(good[:n]); !errors.Is(err, ErrShort) {
			t.Errorf("cut after %d bytes: %v", n, err)
		}
	}
	for name, bad := range map[string][]byte{
		"a list of 2^28 structs": {0x19, 0xFC, 0xFF, 0xFF, 0xFF, 0x7F, 0x00},
		"a string of 2^62 bytes": {0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x3F, 0x00},
		"a map of 2^28 pairs":    {0x1B, 0xFF, 0xFF, 0xFF, 0x7F, 0x88, 0x00},
		"a type that is none":    {0x1E, 0x00},
		"a number of 11 bytes":   {0x16, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0x00},
		"a field number of 2^20": {0x05, 0x80, 0x80, 0x80, 0x01, 0x00, 0x00},
		"deep nesting":           bytes.Repeat([]byte{0x1C}, 1<<20),
		"deep lists":             bytes.Repeat([]byte{0x19}, 1<<20),
	} {
		if _, err := validateStruct(bad); err == nil {
			t.Errorf("%s is taken for valid", name)
		}
	}
}

// validateStruct walks one whole struct at the start of b and returns its length.
func validateStruct(b []byte) (int, error) {
	c := Reader{Bytes: b}
	c.SkipValue(Struct, 0)
	return c.Pos, c.Err
}
