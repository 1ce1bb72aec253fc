// A device for tests: memory of its own that only explicit copies reach, operations computed by the CPU's kernels.
//
// It is honest about what tells an accelerator from the CPU: tensors cannot be read as CPU memory, operations on
// tensors of two devices raise, it has a random generator of its own, and it may lack float64 as Apple's GPUs do.
// It counts the bytes it has allocated and the largest copy that somebody asked for. It is no faster and no slower.

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

namespace {

const c10::Device DEVICE(c10::DeviceType::PrivateUse1, 0);

std::atomic<int64_t> now{0}, peak{0}, allocations{0}, largest_copy{0};
std::atomic<bool> has_float64{true};
std::mutex sizes_mutex;
std::unordered_map<void*, int64_t>& sizes() {
  static auto* found = new std::unordered_map<void*, int64_t>();
  return *found;
}
thread_local bool inside_fallback = false;

void release(void* pointer) {
  if (pointer == nullptr) return;
  std::lock_guard<std::mutex> lock(sizes_mutex);
  now -= sizes()[pointer];
  sizes().erase(pointer);
  std::free(pointer);
}

struct Memory final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    void* pointer = bytes == 0 ? nullptr : std::malloc(bytes);
    if (pointer != nullptr) {
      std::lock_guard<std::mutex> lock(sizes_mutex);
      sizes()[pointer] = static_cast<int64_t>(bytes);
      now += static_cast<int64_t>(bytes);
      if (now > peak) peak = now.load();
      ++allocations;
    }
    return {pointer, pointer, &release, DEVICE};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t count) const override { std::memcpy(to, from, count); }
};
Memory memory;
REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, &memory);

struct Guard final : c10::impl::DeviceGuardImplInterface {
  static constexpr c10::DeviceType static_type = c10::DeviceType::PrivateUse1;
  c10::DeviceType type() const override { return static_type; }
  c10::Device exchangeDevice(c10::Device) const override { return DEVICE; }
  c10::Device getDevice() const override { return DEVICE; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const override { return c10::Stream(c10::Stream::DEFAULT, DEVICE); }
  c10::Stream getDefaultStream(c10::Device) const override { return c10::Stream(c10::Stream::DEFAULT, DEVICE); }
  c10::Stream exchangeStream(c10::Stream) const override { return c10::Stream(c10::Stream::DEFAULT, DEVICE); }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  void record(void**, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

at::Generator& generator() {
  static auto* found = new at::Generator(at::detail::createCPUGenerator());
  return *found;
}

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override { return generator(); }
  at::Generator getNewGenerator(c10::DeviceIndex) const override { return at::detail::createCPUGenerator(); }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t size) const override {
    auto fresh = memory.allocate(size);
    const auto kept = std::min(size, storage.nbytes());
    if (kept != 0) std::memcpy(fresh.get(), storage.data(), kept);
    storage.set_data_ptr_noswap(std::move(fresh));
    storage.unsafeGetStorageImpl()->set_nbytes(size);
  }
};
const bool registered = [] {
  c10::register_privateuse1_backend("simulated");
  at::RegisterPrivateUse1HooksInterface(new Hooks());
  return true;
}();

void refuse_float64(c10::ScalarType dtype) {
  TORCH_CHECK_TYPE(
      has_float64 || (dtype != at::kDouble && dtype != at::kComplexDouble),
      "Cannot convert a simulated Tensor to float64 dtype: this device has none.");
}

at::Tensor empty_strided(
    c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
    std::optional<at::Device>, std::optional<bool>) {
  const auto type = dtype.value_or(c10::get_default_dtype_as_scalartype());
  refuse_float64(type);
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  return at::detail::empty_strided_generic(size, stride, &memory, keys, type);
}

at::Tensor empty(
    c10::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>, std::optional<at::Device>,
    std::optional<bool>, std::optional<at::MemoryFormat> format) {
  const auto type = dtype.value_or(c10::get_default_dtype_as_scalartype());
  refuse_float64(type);
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  return at::detail::empty_generic(size, &memory, keys, type, format);
}

// The same memory as a CPU tensor, for kernels of ours alone.
at::Tensor as_cpu(const at::Tensor& tensor) {
  if (tensor.device().is_cpu()) return tensor;
  auto found = at::empty({0}, tensor.options().device(at::kCPU));
  auto storage = c10::Storage(
      c10::Storage::use_byte_size_t(), tensor.storage().nbytes(),
      c10::DataPtr(tensor.storage().mutable_data(), c10::Device(at::kCPU)), nullptr, false);
  found.unsafeGetTensorImpl()->set_storage_keep_dtype(storage);
  found.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  return found;
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  if (!inside_fallback && from.device() != to.device()) {
    const auto bytes = static_cast<int64_t>(from.numel() * from.element_size());
    if (bytes > largest_copy) largest_copy = bytes;
  }
  as_cpu(to).copy_(as_cpu(from));
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  if (to.sizes() != from.sizes()) to.resize_(from.sizes());
  return copy_from(from, to, false);
}

at::Tensor as_strided(
    const at::Tensor& self, c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, offset);
}

const at::Tensor& resize_(const at::Tensor& self, c10::IntArrayRef size, std::optional<at::MemoryFormat> format) {
  auto* tensor = self.unsafeGetTensorImpl();
  tensor->set_sizes_contiguous(size);
  if (format.has_value() && *format != at::MemoryFormat::Preserve) tensor->empty_tensor_restride(*format);
  const auto bytes = (tensor->storage_offset() + tensor->numel()) * self.element_size();
  if (bytes > self.storage().nbytes()) {
    static_cast<const Hooks&>(at::detail::getPrivateUse1Hooks()).resizePrivateUse1Bytes(self.storage(), bytes);
  }
  return self;
}

at::Tensor& set_all(at::Tensor& self, at::Storage source, int64_t offset, c10::IntArrayRef size, c10::IntArrayRef stride) {
  self.unsafeGetTensorImpl()->set_storage_keep_dtype(std::move(source));
  self.unsafeGetTensorImpl()->set_sizes_and_strides(
      size, stride.empty() && !size.empty() ? c10::IntArrayRef(c10::contiguous_strides(size)) : stride, offset);
  return self;
}

at::Tensor& set_storage(at::Tensor& self, at::Storage source) {
  const int64_t size = static_cast<int64_t>(source.nbytes() / self.element_size());
  return set_all(self, std::move(source), 0, {size}, {1});
}

at::Tensor& set_tensor(at::Tensor& self, const at::Tensor& source) {
  return set_all(self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

at::Scalar number_of(const at::Tensor& self) { return at::_local_scalar_dense(as_cpu(self)); }

at::Tensor view_as_real(const at::Tensor& self) { return at::native::view_as_real(self); }
at::Tensor view_as_complex(const at::Tensor& self) { return at::native::view_as_complex(self); }
at::Tensor unfold(const at::Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  return at::native::unfold(self, dimension, size, step);
}
at::Tensor view(const at::Tensor& self, c10::IntArrayRef size) { return at::native::view(self, size); }
at::Tensor reshape_alias(const at::Tensor& self, c10::IntArrayRef size, c10::IntArrayRef stride) {
  return at::native::_reshape_alias(self, size, stride);
}

// Its schema does not say that it writes to the running statistics, so the fallback would lose what it writes.
std::tuple<at::Tensor, at::Tensor, at::Tensor> native_batch_norm(
    const at::Tensor& input, const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& bias,
    const std::optional<at::Tensor>& mean, const std::optional<at::Tensor>& variance, bool training, double momentum,
    double epsilon) {
  const auto near = [](const std::optional<at::Tensor>& tensor) {
    return tensor.has_value() && tensor->defined() ? std::optional<at::Tensor>(as_cpu(*tensor)) : std::nullopt;
  };
  const auto [output, saved_mean, saved_inverse] = at::native_batch_norm(
      as_cpu(input), near(weight), near(bias), near(mean), near(variance), training, momentum, epsilon);
  return {output.to(DEVICE), saved_mean.to(DEVICE), saved_inverse.to(DEVICE)};
}

// Operations on tensors of two devices raise, as on any accelerator; numbers of no dimension and indices may be the
// host's.
void check_devices(const c10::OperatorHandle& operation, const torch::jit::Stack& stack) {
  const auto& name = operation.schema().name();
  if (name == "aten::index" || name == "aten::index_put_" || name == "aten::_index_put_impl_") return;
  bool here = false, there = false;
  const auto look = [&](const at::Tensor& tensor) {
    if (!tensor.defined()) return;
    if (tensor.device().is_cpu()) there |= tensor.dim() != 0;
    else here = true;
  };
  for (const auto& value : torch::jit::last(stack, operation.schema().arguments().size())) {
    if (value.isTensor()) look(value.toTensor());
    if (value.isTensorList()) for (const at::Tensor& tensor : value.toTensorVector()) look(tensor);
  }
  TORCH_CHECK(
      !(here && there), "Expected all tensors to be on the same device, but found at least two devices, simulated:0 and cpu! (",
      name, ")");
}

void fallback(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  check_devices(operation, *stack);
  const auto& arguments = operation.schema().arguments();
  for (size_t index = 0; index < arguments.size(); ++index) {
    auto& value = torch::jit::peek(*stack, index, arguments.size());
    if (arguments[index].name() == "generator" && value.isNone()) value = generator();
  }
  const bool before = inside_fallback;
  inside_fallback = true;
  try {
    at::native::cpu_fallback(operation, stack);
  } catch (...) {
    inside_fallback = before;
    throw;
  }
  inside_fallback = before;
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", TORCH_FN(empty));
  library.impl("empty_strided", TORCH_FN(empty_strided));
  library.impl("_copy_from", TORCH_FN(copy_from));
  library.impl("_copy_from_and_resize", TORCH_FN(copy_from_and_resize));
  library.impl("as_strided", TORCH_FN(as_strided));
  library.impl("resize_", TORCH_FN(resize_));
  library.impl("set_.source_Storage", TORCH_FN(set_storage));
  library.impl("set_.source_Storage_storage_offset", TORCH_FN(set_all));
  library.impl("set_.source_Tensor", TORCH_FN(set_tensor));
  library.impl("_local_scalar_dense", TORCH_FN(number_of));
  library.impl("native_batch_norm", TORCH_FN(native_batch_norm));
  library.impl("view", TORCH_FN(view));
  library.impl("view_as_real", TORCH_FN(view_as_real));
  library.impl("view_as_complex", TORCH_FN(view_as_complex));
  library.impl("unfold", TORCH_FN(unfold));
  library.impl("_reshape_alias", TORCH_FN(reshape_alias));
}

std::vector<int64_t> counts() { return {now, peak, allocations, largest_copy}; }
void reset_counts() {
  peak = now.load();
  allocations = 0;
  largest_copy = 0;
}

TORCH_LIBRARY(simulated, library) {
  library.def("counts() -> int[]", &counts);
  library.def("reset_counts() -> ()", &reset_counts);
  library.def("set_float64(bool there) -> ()", [](bool there) { has_float64 = there; });
  library.def("has_float64() -> bool", []() { return has_float64.load(); });
  library.def("seed(int seed) -> ()", [](int64_t seed) { generator().set_current_seed(seed); });
  library.def("random_state() -> Tensor", []() { return generator().get_state(); });
  library.def("set_random_state(Tensor state) -> ()", [](const at::Tensor& state) { generator().set_state(state); });
}

} // namespace
