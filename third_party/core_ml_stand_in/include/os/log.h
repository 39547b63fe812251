// The system's log, for code that only reports an error to it.
#pragma once
#define OS_LOG_DEFAULT 0
#define os_log_error(log, ...) ((void)(log))
