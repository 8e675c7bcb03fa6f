package accesslog_test

import (
	"fmt"
	"io"
	"log"
	"strings"
	"time"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/accesslog"
)

// Lines are written when requests end. Records come in the order in which the
// requests came.
func ExampleLog_Next() {
	const lines = `
[2026-03-01T12:00:00.500Z] GET /quick alice 200 10
oops
[2026-03-01T12:00:00.000Z] GET /slow bob 200 600
`
	format, err := accesslog.ParseFormat("[%START_TIME%] %REQ(:METHOD)% %REQ(:PATH)% %REQ(X-USER-ID)% %RESPONSE_CODE% %DURATION%")
	if err != nil {
		log.Fatal(err)
	}
	l, err := accesslog.Open([]string{"-"}, strings.NewReader(lines), accesslog.Options{Format: format, Disorder: time.Minute})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for {
		r, err := l.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		path, _ := r.Path()
		user, _ := r.Header("x-user-id")
		fmt.Println(time.UnixMicro(r.Time).UTC().Format("15:04:05.000"), path, user, r.Status)
	}
	for _, broken := range l.Stats().Samples {
		fmt.Printf("line %d: %s\n", broken.Line, broken.Error)
	}
	// Output:
	// 12:00:00.000 /slow bob 200
	// 12:00:00.500 /quick alice 200
	// line 3: does not begin with "["
}
