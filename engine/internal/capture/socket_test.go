package capture

import (
	"strings"
	"testing"
)

func TestSocketFolder(t *testing.T) {
	long := "/" + strings.Repeat("x", 80)
	for _, tt := range []struct {
		folders []string
		want    string
	}{
		{[]string{"/run/profile", long, "/tmp"}, "/run/profile"},
		{[]string{long, "/var/tmp", "/tmp"}, "/var/tmp"},
		{[]string{long, long + "y", "/tmp"}, "/tmp"},
		{[]string{long, long + "y"}, long},
	} {
		if got := socketFolder(tt.folders...); got != tt.want {
			t.Errorf("%q: got %s; want %s", tt.folders, got, tt.want)
		}
	}
}
