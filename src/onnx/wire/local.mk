# SPDX-License-Identifier: GPL-3.0-or-later

ONNX_SOURCES += \
	%D%/wire.c \
	%D%/wire.h
