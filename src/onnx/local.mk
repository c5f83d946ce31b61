# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/onnx.h \
	%D%/shape_option.c

ONNX_SOURCES += \
	%D%/onnx_model.c \
	%D%/onnx_result.c

if !HAVE_ONNX
libdlest_a_SOURCES += %D%/onnx_absent.c
endif
