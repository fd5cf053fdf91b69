package footer

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/thrift"
)

type schemaElement struct {
	name    string
	fields  [10]int64 // values of the integer fields, by field number
	set     uint64    // bit i is set if field i is present
	logical []byte    // bytes of its LogicalType, a part of the footer; nil if absent
}

// Field numbers of SchemaElement in parquet.thrift.
const (
	fieldType       = 1
	fieldLength     = 2 // of FIXED_LEN_BYTE_ARRAY
	fieldRepetition = 3
	fieldChildren   = 5
	fieldConverted  = 6 // the older form of LogicalType, like the next two
	fieldScale      = 7
	fieldPrecision  = 8
	fieldID         = 9
	fieldLogical    = 10
)

func (e schemaElement) countChildren() int64 { return e.fields[fieldChildren] }

func (e *schemaElement) hasField(field int) bool { return e.set>>field&1 != 0 }

func parseSchemaElement(c *thrift.Reader) (e schemaElement) {
	e.set = c.ReadStruct(e.fields[:], func(id int64, typ byte) bool {
		switch {
		case id == 4 && typ == thrift.Binary:
			e.name = string(c.ReadBinary())
		case id == fieldLogical && typ == thrift.Struct:
			from := c.Pos
			c.SkipValue(thrift.Struct, 1)
			e.logical = c.Bytes[from:c.Pos:c.Pos]
		default:
			return false
		}
		return true
	})
	return e
}

// StrangeType is a logical type that the library does not know or that contradicts its node. Values of such a type are
// copied, but not decoded.
type StrangeType struct {
	Typ, Why   string // for reports
	Annotation []byte // the fields of the SchemaElement that describe the type
}

// treeBuilder builds the nodes of a schema from its elements, which are listed depth first and have been checked by
// checkTree.
type treeBuilder struct {
	elements []schemaElement
	strange  map[schema.Node]*StrangeType
}

func parseSchema(elements []schemaElement) (*schema.Schema, map[schema.Node]*StrangeType, error) {
	t := treeBuilder{elements: elements, strange: map[schema.Node]*StrangeType{}}
	elements[0].set &^= 1 << fieldType // the root is a group, even without columns
	root, err := t.buildNextNode()
	if err != nil {
		return nil, nil, err
	}
	return schema.NewSchema(root.(*schema.GroupNode)), t.strange, nil
}

func (t *treeBuilder) buildNextNode() (schema.Node, error) {
	e := &t.elements[0]
	t.elements = t.elements[1:]
	rep := parquet.Repetition(e.fields[fieldRepetition])
	if rep < parquet.Repetitions.Required || rep > parquet.Repetitions.Repeated {
		return nil, fmt.Errorf("column %q has repetition type %d", e.name, rep)
	}
	id := int32(-1)
	if e.hasField(fieldID) {
		id = int32(e.fields[fieldID])
	}
	if e.fields[fieldChildren] == 0 && e.hasField(fieldType) {
		return t.buildLeafNode(e, rep, id)
	}
	fields := make(schema.FieldList, e.fields[fieldChildren])
	for i := range fields {
		var err error
		if fields[i], err = t.buildNextNode(); err != nil {
			return nil, err
		}
	}
	n, err := e.newGroupNode(rep, fields, id)
	if err != nil {
		strange := e.describeStrangeType(err)
		if strange.Typ != variant {
			strange.Typ = "struct<" + strange.Typ + ">"
		}
		if n, err = schema.NewGroupNode(e.name, rep, fields, id); err == nil {
			t.strange[n] = strange
		}
	}
	return n, err
}

func (t *treeBuilder) buildLeafNode(e *schemaElement, rep parquet.Repetition, id int32) (schema.Node, error) {
	typ, size, err := e.physicalType()
	var n *schema.PrimitiveNode
	if err == nil {
		n, err = e.newPrimitiveNode(rep, typ, size, id)
	}
	if err != nil {
		strange := e.describeStrangeType(err)
		if n, err = schema.NewPrimitiveNode(e.name, rep, typ, id, int32(size)); err == nil {
			t.strange[n] = strange
		}
	}
	return n, err
}

// physicalType returns the type of a column and the number of bytes of a value, or -1 if the type does not determine
// this number. For an invalid type it returns the type byte array, which contradicts the column chunks, and an error.
func (e *schemaElement) physicalType() (parquet.Type, int, error) {
	const maxBytes = 1 << 30 // a page is smaller than 2 GiB
	typ, n := parquet.Type(e.fields[fieldType]), e.fields[fieldLength]
	switch {
	case typ < parquet.Types.Boolean || typ > parquet.Types.FixedLenByteArray:
		return parquet.Types.ByteArray, -1, fmt.Errorf("type number %d", e.fields[fieldType])
	case typ != parquet.Types.FixedLenByteArray:
		return typ, -1, nil
	case n <= 0 || n > maxBytes:
		return parquet.Types.ByteArray, -1, fmt.Errorf("values of %d bytes", n)
	}
	return typ, int(n), nil
}

func (e *schemaElement) newGroupNode(rep parquet.Repetition, fields schema.FieldList, id int32) (*schema.GroupNode, error) {
	logical, err := e.parseAnnotation()
	switch {
	case err != nil:
		return nil, err
	case logical == nil && e.fields[fieldConverted] == int64(schema.ConvertedTypes.Decimal): // the library panics without a precision
		return nil, errors.New("a decimal of several columns")
	case logical == nil && e.hasField(fieldConverted):
		return schema.NewGroupNodeConverted(e.name, rep, fields, schema.ConvertedType(e.fields[fieldConverted]), id)
	}
	return schema.NewGroupNodeLogical(e.name, rep, fields, logical, id)
}

func (e *schemaElement) newPrimitiveNode(rep parquet.Repetition, typ parquet.Type, size int, id int32) (*schema.PrimitiveNode, error) {
	logical, err := e.parseAnnotation()
	switch {
	case err != nil:
		return nil, err
	case logical == nil && e.hasField(fieldConverted):
		return schema.NewPrimitiveNodeConverted(e.name, rep, typ, schema.ConvertedType(e.fields[fieldConverted]), size,
			int(e.fields[fieldPrecision]), int(e.fields[fieldScale]), id)
	}
	return schema.NewPrimitiveNodeLogical(e.name, rep, logical, typ, size, id)
}

func (e *schemaElement) parseAnnotation() (schema.LogicalType, error) {
	if e.logical == nil {
		return nil, nil
	}
	c := thrift.Reader{Bytes: e.logical}
	return parseLogicalType(&c)
}

func (e *schemaElement) describeStrangeType(err error) *StrangeType {
	if unknown, ok := errors.AsType[unknownLogicalTypeError](err); ok {
		return &StrangeType{unknown.typeName(), unknown.Error(), e.encodeAnnotation()}
	}
	return &StrangeType{"mistyped", "of a type that contradicts itself (" + err.Error() + ")", e.encodeAnnotation()}
}

// encodeAnnotation encodes the fields of the element that define the meaning of its values. Their headers have the long
// form, so that they can follow any other field.
func (e *schemaElement) encodeAnnotation() (b []byte) {
	for _, id := range []int{fieldConverted, fieldScale, fieldPrecision} {
		if e.hasField(id) {
			b = binary.AppendVarint(binary.AppendVarint(append(b, thrift.I32), int64(id)), e.fields[id])
		}
	}
	if e.logical != nil {
		b = append(binary.AppendVarint(append(b, thrift.Struct), fieldLogical), e.logical...)
	}
	return b
}

// unknownLogicalTypeError is the error for a logical type that is not known. Its value is the number of the type.
type unknownLogicalTypeError int64

const variant = "variant"

func (e unknownLogicalTypeError) typeName() string {
	if name, ok := map[unknownLogicalTypeError]string{16: variant, 17: "geometry", 18: "geography"}[e]; ok {
		return name
	}
	return "unknown"
}

func (e unknownLogicalTypeError) Error() string {
	if name := e.typeName(); name != "unknown" {
		return name
	}
	return fmt.Sprintf("logical type number %d, unknown to this program", int64(e))
}

// parseLogicalType parses a LogicalType, a union with at most one field. It returns nil if no field is set.
func parseLogicalType(c *thrift.Reader) (logical schema.LogicalType, err error) {
	c.ReadStruct(nil, func(field int64, typ byte) bool {
		if typ != thrift.Struct {
			return false
		}
		switch field {
		case 5:
			var f [3]int64
			c.ReadStruct(f[:], nil)
			logical, err = decimalType(f[1], f[2])
		case 7, 8:
			var unit int64
			var f [2]int64
			c.ReadStruct(f[:], func(id int64, typ byte) bool {
				if id != 2 || typ != thrift.Struct {
					return false
				}
				c.ReadStruct(nil, func(id int64, _ byte) bool { unit = id; return false })
				return true
			})
			if unit < 1 || unit > 3 {
				err = errors.New("a time of unknown unit")
			} else if of := schema.TimeUnitMillis + schema.TimeUnitType(unit-1); field == 7 {
				logical = schema.NewTimeLogicalType(f[1] != 0, of)
			} else {
				logical = schema.NewTimestampLogicalType(f[1] != 0, of)
			}
		case 10:
			var bits byte
			var f [3]int64
			c.ReadStruct(f[:], func(id int64, typ byte) bool {
				if id != 1 || typ != thrift.Byte {
					return false
				}
				bits = c.NextByte()
				return true
			})
			switch bits {
			case 8, 16, 32, 64:
				logical = schema.NewIntLogicalType(int8(bits), f[2] != 0)
			default:
				err = fmt.Errorf("an integer of %d bits", int8(bits))
			}
		default:
			var known bool
			if logical, known = simpleLogicalTypes[field]; !known {
				err = unknownLogicalTypeError(field)
			}
			return false
		}
		return true
	})
	return logical, errors.Join(err, c.Err)
}

func decimalType(scale, precision int64) (schema.LogicalType, error) {
	if precision < 1 || precision != int64(int32(precision)) || scale < 0 || scale > precision {
		return nil, fmt.Errorf("decimal(%d,%d), which does not exist", precision, scale)
	}
	return schema.NewDecimalLogicalType(int32(precision), int32(scale)), nil
}

// simpleLogicalTypes contains the logical types without parameters by their numbers in parquet.thrift.
var simpleLogicalTypes = map[int64]schema.LogicalType{
	1: schema.StringLogicalType{}, 2: schema.MapLogicalType{}, 3: schema.ListLogicalType{}, 4: schema.EnumLogicalType{},
	6: schema.DateLogicalType{}, 11: schema.NullLogicalType{}, 12: schema.JSONLogicalType{}, 13: schema.BSONLogicalType{},
	14: schema.UUIDLogicalType{}, 15: schema.Float16LogicalType{},
}
