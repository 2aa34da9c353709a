package scorer

import (
	"runtime"
	"unsafe"
)

//go:wasmimport eval_v1 input_len
func inputLen() uint32

//go:wasmimport eval_v1 input_read
func inputRead(p unsafe.Pointer, off, n uint32) uint32

//go:wasmimport eval_v1 output_write
func outputWrite(p unsafe.Pointer, n uint32)

//go:wasmimport eval_v1 log
func hostLog(level uint32, p unsafe.Pointer, n uint32)

//go:wasmimport eval_v1 call
func hostCall(op unsafe.Pointer, opLen uint32, request unsafe.Pointer, requestLen uint32) int64

//go:wasmimport eval_v1 response_read
func responseRead(p unsafe.Pointer, off, n uint32) uint32

// init leaves free memory in the heap, so that most trials are scored without
// growing the instance: an instance that did not grow can be put back to its
// first state at little cost.
func init() {
	warm = make([]byte, 8<<20)
	warm = nil
	runtime.GC()
}

var warm []byte

//go:wasmexport eval_abi_v1
func evalABI() {}

//go:wasmexport eval_describe
func evalDescribe() uint32 { return reply(Describe()) }

//go:wasmexport eval_score
func evalScore() uint32 {
	request := make([]byte, inputLen())
	if len(request) > 0 {
		inputRead(unsafe.Pointer(&request[0]), 0, uint32(len(request)))
	}
	return reply(Serve(engine{}, request))
}

// reply writes what a call came to: 0 with the message, or 1 with the error.
func reply(b []byte, err error) uint32 {
	code := uint32(0)
	if err != nil {
		code, b = 1, []byte(err.Error())
	}
	if len(b) > 0 {
		outputWrite(unsafe.Pointer(&b[0]), uint32(len(b)))
	}
	return code
}

// engine is the Door of a module.
type engine struct{}

func (engine) Call(op string, request []byte) ([]byte, error) {
	n := hostCall(text(op), uint32(len(op)), unsafe.Pointer(unsafe.SliceData(request)), uint32(len(request)))
	switch n {
	case -1:
		return nil, ErrCancelled
	case -2:
		return nil, ErrDenied
	case -3:
		return nil, ErrUnknown
	case -5:
		return nil, ErrTooLarge
	}
	if n < 0 {
		return nil, ErrFailed
	}
	response := make([]byte, n)
	if n > 0 {
		responseRead(unsafe.Pointer(&response[0]), 0, uint32(n))
	}
	return response, nil
}

func (engine) Log(level Level, message string) {
	hostLog(uint32(level), text(message), uint32(len(message)))
}

func text(s string) unsafe.Pointer { return unsafe.Pointer(unsafe.StringData(s)) }
