package evidence

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
)

// footerEnd is what a Parquet file ends with: the length of its footer, and a
// word that tells it from other files.
const (
	footerEnd = 8
	magic     = "PAR1"
)

// openOps opens an ops.parquet and closes the file when it is none. The caller
// closes the returned closer when done with the file.
func openOps(path string) (*parquet.File, io.Closer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	file, err := openParquet(f)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return file, f, nil
}

// openParquet looks at the file's end first: the parquet reader would make room
// for a footer as long as a damaged file says that it has, up to 4 GiB.
func openParquet(f *os.File) (*parquet.File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var end [footerEnd]byte
	if _, err := f.ReadAt(end[:], info.Size()-footerEnd); err != nil || string(end[4:]) != magic {
		return nil, fmt.Errorf("it is cut off, or no Parquet file")
	}
	if n := int64(binary.LittleEndian.Uint32(end[:4])); n > info.Size()-footerEnd-int64(len(magic)) {
		return nil, fmt.Errorf("it is damaged: %d bytes cannot end in a footer of %d", info.Size(), n)
	}
	return parquet.OpenFile(f, info.Size())
}
