package wasmhost

import (
	"context"

	"github.com/tetratelabs/wazero"
)

// abi is the module "env" of proxy-wasm 0.2.0.
var abi = []hostFunction{
	{"proxy_log", "ib", log},
	{"proxy_set_tick_period_milliseconds", "i", setTickPeriod},
	{"proxy_get_current_time_nanoseconds", "i", getCurrentTime},
	{"proxy_set_effective_context", "i", setEffectiveContext},
	{"proxy_get_buffer_bytes", "iiiii", getBufferBytes},
	{"proxy_get_property", "bii", getProperty},
	{"proxy_set_property", "bb", setProperty},

	{"proxy_get_header_map_value", "ibii", getHeader},
	{"proxy_add_header_map_value", "ibb", addHeader},
	{"proxy_replace_header_map_value", "ibb", replaceHeader},
	{"proxy_remove_header_map_value", "ib", removeHeader},
	{"proxy_get_header_map_pairs", "iii", getHeaders},
	{"proxy_set_header_map_pairs", "ib", setHeaders},
	{"proxy_send_local_response", "ibbbi", sendLocalResponse},
	{"proxy_continue_stream", "i", continueStream},

	{"proxy_get_shared_data", "biii", getSharedData},
	{"proxy_set_shared_data", "bbi", setSharedData},
	{"proxy_define_metric", "ibi", defineMetric},
	{"proxy_increment_metric", "iI", incrementMetric},
	{"proxy_record_metric", "iI", recordMetric},
	{"proxy_get_metric", "ii", getMetric},

	{"proxy_http_call", "bbbbii", httpCall},
	{"proxy_grpc_call", "bbbbbii", grpcCall},

	{"proxy_set_buffer_bytes", "iiib", unimplemented},
	{"proxy_close_stream", "i", unimplemented},
	{"proxy_done", "", unimplemented},
	{"proxy_call_foreign_function", "bbii", unimplemented},
	{"proxy_register_shared_queue", "bi", unimplemented},
	{"proxy_resolve_shared_queue", "bbi", unimplemented},
	{"proxy_dequeue_shared_queue", "iii", unimplemented},
	{"proxy_enqueue_shared_queue", "ib", unimplemented},
	{"proxy_grpc_stream", "bbbbi", unimplemented},
	{"proxy_grpc_send", "ibi", unimplemented},
	{"proxy_grpc_cancel", "i", unimplemented},
	{"proxy_grpc_close", "i", unimplemented},
	{"proxy_get_status", "iii", unimplemented},
}

// exportABI makes the module "env" for the modules of the runtime.
func exportABI(ctx context.Context, runtime wazero.Runtime) error {
	builder := runtime.NewHostModuleBuilder("env")
	for _, function := range abi {
		function.export(builder)
	}
	_, err := builder.Instantiate(ctx)
	return err
}

func unimplemented(*hostCall) Status { return Unimplemented }
