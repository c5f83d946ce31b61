# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/cgroup.c \
	%D%/cgroup.h \
	%D%/http_server.h \
	%D%/marks.c \
	%D%/marks.h \
	%D%/phases.c \
	%D%/phases.h \
	%D%/process_tree.c \
	%D%/process_tree.h \
	%D%/recorder.c \
	%D%/recorder.h \
	%D%/trace.c \
	%D%/trace.h

if HAVE_MICROHTTPD
libdlest_a_SOURCES += %D%/http_server.c
else
libdlest_a_SOURCES += %D%/http_absent.c
endif
