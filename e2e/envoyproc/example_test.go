package envoyproc_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/weirproxy/weir/e2e/envoyproc"
)

func ExampleStart() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()

	envoy, err := envoyproc.Start(ctx, envoyproc.Options{Config: []byte(hello), Concurrency: 1})
	if err != nil {
		fmt.Println(err) // ends with the last lines that Envoy printed
		return
	}
	defer envoy.Stop()

	addr, err := envoy.Listener(ctx, "ingress")
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := http.Get("http://" + addr)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Printf("%s: %s %v\n", resp.Status, body, err)
	// Output:
	// 200 OK: hello <nil>
}
