#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes what ships from measured runs: the PRE models (models/pre.xml), the
# physical model (models/physical.xml), those of inference (models/inference.xml,
# models/tuned.xml), of CPUs (models/cpu.xml) and of training language models
# (models/language.xml). Made on other x86-64 processors they are equal, byte for
# byte, but that residuals of PRE models may differ in the twelfth digit.
#
# data/delrey2024-configurations.csv, means of the same runs by --means, is kept as it
# was made with the first models: --means tells apart what two of its 45
# configurations had together, four sizes of memory and two works of a network.
#
#   data/make/make-models.sh DLEST RUNS TOP
#
# DLEST is the program, RUNS the folder with delrey2024/pre-runs.csv and
# delrey2024/runs.csv (S. del Rey et al., doi 10.5281/zenodo.11505891, CC BY
# 4.0), TOP the top of the source tree. `make models` calls it.
#
# Recipe and hyper-parameters of the PRE models are chosen by dlest fit: by the
# error for configurations, architectures and GPUs left out.
set -eu
# Products of matrices and logarithms differ in their last bits with the kernels that
# OpenBLAS and the C library choose for a processor. Under a memory limit dlest
# uses GSL's own BLAS, and the C library is told to do without the newer instructions.
ulimit -v 1000000000
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-FMA,-FMA4
dlest=$1
runs=$2/delrey2024
top=$3
cite='S. del Rey, L. Cruz, X. Franch, S. Martinez-Fernandez, arXiv 2307.05520; data doi 10.5281/zenodo.11505891, CC BY 4.0'

if [ ! -r "$runs/pre-runs.csv" ]; then
  echo "make-models: $runs/pre-runs.csv is not there" >&2
  exit 1
fi

# The MobileNetV2 of del Rey et al. has width 0.5; their InceptionV3 trains the classifier
# alone.
"$dlest" fit "$runs/pre-runs.csv" \
  --alias mobilenet_v2=mobilenetv2_050 \
  --define arch=architecture \
  --define macs_g=GFLOPs/2 \
  --define image_px=image_size \
  --define train_samples=training_size \
  --define val_samples=validation_size \
  --define "frozen_base=architecture == 'inception_v3'" \
  --define gpu_power_w=y_avg_gpu_power_W \
  --define 'epoch_energy_j=y_avg_epoch_energy_kJ*1000' \
  --set boundary=gpu+ram \
  --method krr \
  --cite "$cite" \
  -o "$top/models/pre.xml"

# Learns from data/training-means.csv too (data/make/training-means.py). The
# trainings of del Rey et al. take steps_per_epoch = samples // batch size (their
# src/models/dl/model.py), in validation too: the last batch is dropped.
"$dlest" fit "$runs/runs.csv" \
  --method physical \
  --set drop_last=yes \
  --alias mobilenet_v2=mobilenetv2_050 \
  --cite "$cite; besides, data/training-means.csv: means over the tables of \
You et al. (Zeus, NSDI 2023), pytorch-gpu-benchmark, timm, Bakhtiarifard et \
al. (EC-NAS) and Selvan et al. (PEPR); and medians of speeds: MLCommons (MLPerf \
Training v0.7 to v4.0), NVIDIA DeepLearningExamples and milabench" \
  -o "$top/models/physical.xml"

# Language models that serve, from means that ship (data/make/mlenergy-means.py).
"$dlest" fit "$top/data/mlenergy-means.csv" \
  --method serving \
  --with none \
  --target request_energy_j \
  --target request_s \
  --target request_power_w \
  --cite 'J.-W. Chung et al., The ML.ENERGY Benchmark, arXiv 2505.06371; Apache-2.0' \
  -o "$top/models/inference.xml"

# Language models that are trained (data/make/language-means.py).
"$dlest" fit "$top/data/language-training-means.csv" \
  --method language \
  --with none \
  --target tokens_per_s \
  --cite "means over the tables of MosaicML llm-foundry and NVIDIA \
DeepLearningExamples, MLPerf Training v2.0 to v4.0 (results not verified by \
MLCommons once derived) and You et al. (Zeus, NSDI 2023); and powers of MLPerf \
Training v4.0 (smc-ac-power) and of Tucano (github Nkluge-correa/Tucano)" \
  -o "$top/models/language.xml"

# Networks on CPUs (data/make/cpu-means.py).
"$dlest" fit "$top/data/cpu-means.csv" \
  --method cpu \
  --with none \
  --target request_s \
  --cite "medians over the tables of MLPerf Inference v0.5 to v5.1 (results not \
verified by MLCommons once derived), Intel Neural Compressor, OpenVINO 2024.1 \
and PyTorch Image Models; Apache-2.0" \
  -o "$top/models/cpu.xml"

# Inference by tuned software (data/make/tuned-means.py).
"$dlest" fit "$top/data/tuned-means.csv" \
  --method tuned \
  --with none \
  --target request_s \
  --cite "MLPerf Inference v0.5 to v4.0, MLCommons, Apache-2.0; results not \
verified by MLCommons once derived" \
  -o "$top/models/tuned.xml"
