# SPDX-License-Identifier: GPL-3.0-or-later
# frozen_string_literal: true

# Formula for Homebrew on Linux.
class Dlest < Formula
  desc "Energy of training and running deep-learning models"
  homepage "@PACKAGE_URL@"
  url "@PACKAGE_URL@/releases/dlest-1.0.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "GPL-3.0-or-later"

  depends_on "pkgconf" => :build
  depends_on "protobuf-c" => :build
  depends_on "gsl"
  depends_on "jansson"
  depends_on "libmicrohttpd"
  depends_on "libxml2"
  depends_on :linux
  depends_on "xxhash"

  def install
    system "./configure", "--disable-silent-rules", *std_configure_args
    system "make", "install"
  end

  test do
    system bin/"dlest", "check", "--strict", share/"dlest/models/physical.xml"
    answer = shell_output("#{bin}/dlest predict --arch resnet50 --gpu a100 --format json -q")
    assert_operator JSON.parse(answer)["estimates"].length, :>=, 5
  end
end
