# SPDX-License-Identifier: GPL-3.0-or-later

ONNX_SOURCES += \
	%D%/shapes_convolution.c \
	%D%/shapes_elementwise.c \
	%D%/shapes_matmul.c \
	%D%/shapes_rearrange.c \
	%D%/shapes_recurrent.c \
	%D%/shapes_select.c \
	%D%/shapes_views.c
