package capture

import (
	"bufio"
	"io"
)

// maxMessage bounds one message of the browser's: a page decides how long its
// console lines and addresses are. The largest that the engine asks for is a tile.
const maxMessage = 96 << 20

// bounded passes on the browser's messages, each ended by a zero byte, and leaves
// out those that are too long. What waits for such a one runs into its deadline.
type bounded struct {
	src  io.ReadCloser
	br   *bufio.Reader
	max  int
	buf  []byte // the message that is being passed on
	read int
}

func newBounded(src io.ReadCloser, max int) *bounded {
	return &bounded{src: src, br: bufio.NewReaderSize(src, 256<<10), max: max}
}

func (b *bounded) Close() error { return b.src.Close() }

func (b *bounded) Read(p []byte) (int, error) {
	if b.read == len(b.buf) {
		if err := b.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, b.buf[b.read:])
	b.read += n
	return n, nil
}

// fill reads the next message that is short enough.
func (b *bounded) fill() error {
	if cap(b.buf) > 1<<20 {
		b.buf = nil
	}
	b.buf, b.read = b.buf[:0], 0
	long := false
	for {
		part, err := b.br.ReadSlice(0)
		if err != nil && err != bufio.ErrBufferFull {
			return err
		}
		if long = long || len(b.buf)+len(part) > b.max; !long {
			b.buf = append(b.buf, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if !long {
			return nil
		}
		b.buf, long = b.buf[:0], false
	}
}
