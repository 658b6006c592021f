# Sourced by the scripts: where the set-up put NVRTC and the CUDA headers.
if [ -e .venv/cuda ]; then
  export CUDA_PATH=$PWD/.venv/cuda
  for DLC_NVRTC in "$CUDA_PATH/lib64" "$CUDA_PATH/lib"; do
    if compgen -G "$DLC_NVRTC/libnvrtc.so*" >/dev/null; then break; fi
  done
  export DLC_NVRTC NVRTC_LIBRARY_DIR=$DLC_NVRTC
fi
