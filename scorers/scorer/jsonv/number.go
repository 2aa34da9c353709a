package jsonv

import "strings"

// decimal is a number as 0.digits x 10^exp, without zeros at either end; zero
// has no digits. So equal numbers have equal decimals, at any size.
type decimal struct {
	neg    bool
	digits string
	exp    int64
}

// maxExp bounds exponents: beyond it numbers are told apart by their text alone.
const maxExp = 1 << 40

func decimalOf(b []byte) decimal {
	var d decimal
	if b[0] == '-' {
		d.neg, b = true, b[1:]
	}
	mantissa, exp := b, int64(0)
	for i, c := range b {
		if c == 'e' || c == 'E' {
			mantissa, exp = b[:i], exponent(b[i+1:])
			break
		}
	}
	whole, fraction, _ := strings.Cut(string(mantissa), ".")
	text := whole + fraction
	trimmed := strings.TrimLeft(text, "0")
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits == "" {
		return decimal{}
	}
	d.exp = exp + int64(len(whole)) - int64(len(text)-len(trimmed))
	return d
}

func exponent(b []byte) int64 {
	neg := b[0] == '-'
	if neg || b[0] == '+' {
		b = b[1:]
	}
	var n int64
	for _, c := range b {
		if n = n*10 + int64(c-'0'); n > maxExp {
			n = maxExp
		}
	}
	if neg {
		return -n
	}
	return n
}

// compare orders a and b: -1, 0 or 1.
func (d decimal) compare(o decimal) int {
	if s, t := d.sign(), o.sign(); s != t || s == 0 {
		return sign(s - t)
	}
	c := sign(int(min(max(d.exp-o.exp, -1), 1)))
	if c == 0 {
		c = strings.Compare(d.digits, o.digits)
	}
	if d.neg {
		return -c
	}
	return c
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.neg:
		return -1
	}
	return 1
}

func sign(n int) int { return min(max(n, -1), 1) }

func (d decimal) int64() (int64, bool) {
	if d.digits == "" {
		return 0, true
	}
	if d.exp < int64(len(d.digits)) || d.exp > 19 {
		return 0, false
	}
	var n uint64
	for i := range int(d.exp) {
		n *= 10
		if i < len(d.digits) {
			n += uint64(d.digits[i] - '0')
		}
	}
	switch {
	case d.neg && n <= 1<<63:
		return -int64(n), true
	case !d.neg && n < 1<<63:
		return int64(n), true
	}
	return 0, false
}
