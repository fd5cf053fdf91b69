package delta

import (
	"context"
	"fmt"
)

func Example() {
	folder := newFolder() // a table in memory
	folder.commit(0, protocolLine, metaLine, addLine("old.parquet"))
	folder.commit(1, removeLine("old.parquet"), addLine("new%20one.parquet"))

	snapshot, err := Read(context.Background(), folder, "s3://bucket/table", Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, file := range snapshot.Files {
		fmt.Println(snapshot.Version, file.Path, file.Size)
	}
	// Output: 1 new one.parquet 1
}
