package format

import "testing"

// The rule is commutative and associative, so that the type of a column depends on no order of
// files; it holds whatever each type holds.
func TestAgree(t *testing.T) {
	types := []string{"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float", "double", "decimal(10,2)", "decimal(38,0)"}
	for _, a := range types {
		for _, b := range types {
			ab, ok := CommonType(a, b)
			ba, _ := CommonType(b, a)
			if !ok || ab != ba {
				t.Errorf("%s and %s: %q, %q, %v", a, b, ab, ba, ok)
			}
			if again, _ := CommonType(ab, b); again != ab {
				t.Errorf("%s and %s are %s, with %[2]s once more %s", a, b, ab, again)
			}
			if list, ok := CommonType("list<"+a+">", "list<"+b+">"); !ok || list != "list<"+ab+">" {
				t.Errorf("lists of %s and %s: %q, %v", a, b, list, ok)
			}
			for _, c := range types {
				x, _ := CommonType(ab, c)
				bc, _ := CommonType(b, c)
				if y, _ := CommonType(a, bc); x != y {
					t.Errorf("%s, %s, %s: %s or %s", a, b, c, x, y)
				}
			}
			if _, ok := CommonType(a, "list<"+b+">"); ok {
				t.Errorf("%s agrees with a list", a)
			}
		}
		for _, other := range []string{"string", "timestamp", "date", "map", "interval", "list", "int96"} {
			if typ, ok := CommonType(a, other); ok {
				t.Errorf("%s and %s agree: %s", a, other, typ)
			}
			if typ, ok := CommonType(other, other); !ok || typ != other {
				t.Errorf("%s does not agree with itself", other)
			}
		}
	}
	for _, c := range [][3]string{
		{"float", "double", "double"}, {"int16", "float", "double"}, {"int32", "float", "double"}, {"bool", "uint8", "uint8"},
		{"uint8", "int8", "int16"}, {"uint32", "int8", "int64"}, {"uint64", "int8", "double"}, {"int64", "double", "double"}, {"bool", "float", "double"}, {"float16", "float", "float"},
	} {
		if got, _ := CommonType(c[0], c[1]); got != c[2] {
			t.Errorf("%s and %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
