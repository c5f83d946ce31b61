# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/file_name.c \
	%D%/file_name.h \
	%D%/from_onnx.c \
	%D%/from_onnx.h \
	%D%/layer_shapes.c \
	%D%/layer_shapes.h \
	%D%/scaling.c \
	%D%/scaling.h \
	%D%/token_costs.c \
	%D%/token_costs.h \
	%D%/transformer.c \
	%D%/transformer.h \
	%D%/transformer_shape.c
