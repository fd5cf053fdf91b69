package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/naming"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/where"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

func findFilterColumn(name string, leaves []format.Leaf, partitionKeys []string) (FilterColumn, error) {
	names := slices.Clone(partitionKeys)
	for i, l := range leaves {
		var element int
		list := l.Name
		if at := strings.LastIndexByte(name, '['); l.List && at > 0 {
			if n, err := fmt.Sscanf(name[at:], "[%d]", &element); n == 1 && err == nil && name == fmt.Sprintf("%s[%d]", name[:at], element) {
				list += name[at:]
			}
		}
		if list == name || l.Name == name {
			if naming.HaveSharedName(l) {
				return FilterColumn{}, naming.ErrAmbiguous("where", name)
			}
			if l.Name == name && l.List {
				return FilterColumn{Name: name, Kind: comparisonKindOfList(l), Leaf: i, Element: -1}, nil
			}
			return FilterColumn{Name: name, Kind: comparisonKindOfLeaf(l), Leaf: i, Element: element, utc: l.UTC}, nil
		}
		names = append(names, l.Name)
	}
	hint := stream.Textf("%v", suggest.DidYouMean(name, names))
	if hint.String() == "" && len(partitionKeys) > 0 {
		hint = stream.Textf("; the keys of its partitions are %s", strings.Join(partitionKeys, ", "))
	}
	return FilterColumn{}, stream.Usagef("{where}: no column is named %s%v", name, hint)
}

func comparisonKindOfLeaf(leaf format.Leaf) where.Kind {
	k := where.Kind{Type: leaf.Type}
	typ := strings.TrimSuffix(strings.TrimPrefix(leaf.Type, "list<"), ">")
	switch typ {
	case "bool":
		k.Class = where.Truth
	case "float":
		k.Class, k.Bits = where.Float, 32
	case "double", "float16":
		k.Class, k.Bits = where.Float, 64
	case "string", "enum", "json", "bson", "binary", "uuid":
		k.Class = where.Text
	case "date":
		k.Class = where.Date
	case "timestamp", "int96":
		k.Class, k.UTC = where.Timestamp, leaf.UTC
	case "time":
		k.Class = where.Clock
	default:
		switch {
		case strings.HasPrefix(typ, "int") && typ != "interval", strings.HasPrefix(typ, "uint"):
			k.Class = where.Integer
		case strings.HasPrefix(typ, "decimal("):
			if n, err := fmt.Sscanf(typ, "decimal(%d,%d)", &k.Precision, &k.Scale); n == 2 && err == nil {
				k.Class = where.Decimal
			}
		}
	}
	switch {
	case k.Class != where.Other && !k.IsNumeric() && (leaf.List || leaf.NoClass != ""):
		k.Class = where.Other
	case k.IsNumeric() && leaf.Why != "" && !leaf.Refused && !leaf.List:
		k.Class = where.Other
	}
	return k
}

func comparisonKindOfList(leaf format.Leaf) where.Kind {
	k := comparisonKindOfLeaf(leaf)
	if !k.IsNumeric() {
		return k
	}
	return where.Kind{Type: leaf.Type, Class: where.Lists}
}
